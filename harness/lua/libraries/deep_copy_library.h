// `ohm.copy`: deepcopy of modules, tensors, and tables of them.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> copy_functions();

}  // namespace ohm::lua
