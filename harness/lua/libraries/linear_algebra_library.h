// ohm.linalg: norms of vectors and matrices.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> linear_algebra_functions();

}  // namespace ohm::lua
