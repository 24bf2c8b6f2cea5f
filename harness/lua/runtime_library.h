// What concerns the runtime as a whole: ohm.manual_seed, ohm.is_tensor, ohm.gc.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> runtime_functions();
std::span<const luaL_Reg> gc_functions();

}  // namespace ohm::lua
