// Functions of the runtime as a whole: ohm.manual_seed, ohm.is_tensor; ohm.copy.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> runtime_functions();
std::span<const luaL_Reg> copy_functions();

}  // namespace ohm::lua
