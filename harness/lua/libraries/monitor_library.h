// ohm.smi(), ohm.show_utilization(): the GPUs as monitoring tools see them. ohm.process(fn):
// another process on them.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> monitor_functions();

}  // namespace ohm::lua
