// Monitoring: ohm.smi() and ohm.show_utilization() show the GPUs as tools do. ohm.process(fn):
// another process on them.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> monitor_functions();

}  // namespace ohm::lua
