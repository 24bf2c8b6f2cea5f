// ohm.autograd: gradients as values.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> gradient_functions();

}  // namespace ohm::lua
