// ohm.cuda: the GPUs and their memory, as torch.cuda has it.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

/// Where one is taken, the last argument is a device; without one it is the current GPU.
std::span<const luaL_Reg> cuda_device_functions();
/// Those of torch.cuda.memory: counters, cache, settings.
std::span<const luaL_Reg> cuda_memory_functions();

}  // namespace ohm::lua
