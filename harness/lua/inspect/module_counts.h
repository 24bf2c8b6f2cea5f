// Counts of what is switched on the modules that a script still has: hooks, eval mode, frozen
// parameters.
#pragma once

#include <lua.hpp>

#include "harness/scenario/scenario_program.h"

namespace ohm::lua {

/// Of all modules that the script can reach, and those below them. After a collection.
engine::ModuleCounts module_counts_of(lua_State* L);

}  // namespace ohm::lua
