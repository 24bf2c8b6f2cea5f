// ohm.cuda: what there is of a GPU and its memory, as tables and texts.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

/// Of ohm.cuda and of ohm.cuda.memory.
std::span<const luaL_Reg> cuda_memory_tables();
/// Of ohm.cuda alone.
std::span<const luaL_Reg> cuda_state_functions();

}  // namespace ohm::lua
