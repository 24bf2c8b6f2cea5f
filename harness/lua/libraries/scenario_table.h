// The table of ohm.scenario{…}, read.
#pragma once

#include <lua.hpp>
#include <string>

#include "harness/scenario/scenario.h"

namespace ohm::lua {

/// Reads the table at `index`, and keeps the functions of its variants in the table at `functions`,
/// by their names. Throws std::invalid_argument.
void read_scenario(lua_State* L, int index, engine::ScenarioDescription& scenario, int functions);

/// Where the variant's `next_step` is kept: beside the functions of the variants, whose names hold
/// no blank.
std::string next_step_key(const std::string& variant);

}  // namespace ohm::lua
