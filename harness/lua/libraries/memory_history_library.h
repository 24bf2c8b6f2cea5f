// ohm.cuda.memory: the history of the GPUs' memory, and snapshots of it.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

/// dump_snapshot and record_memory_history, also under the names that PyTorch has for them.
std::span<const luaL_Reg> memory_history_functions();

}  // namespace ohm::lua
