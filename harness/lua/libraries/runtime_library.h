// Functions of the runtime as a whole: ohm.manual_seed, ohm.is_tensor.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> runtime_functions();

}  // namespace ohm::lua
