// ohm.scenario{…} and ohm.step().
#pragma once

#include <lua.hpp>
#include <memory>
#include <span>
#include <string>

#include "harness/scenario/scenario.h"

namespace ohm::lua {

std::span<const luaL_Reg> scenario_functions();

/// The description that ohm.scenario{…} made of its table, if the value at `index` is what it
/// returned; nullptr otherwise.
const engine::ScenarioDescription* test_scenario(lua_State* L, int index);

/// Pushes the function of a variant of the scenario at `index`; nil when there is none.
/// Pushes the variant's `next_step`, or nil.
void push_next_step(lua_State* L, int index, const std::string& variant);

void push_variant_function(lua_State* L, int index, const std::string& variant);

}  // namespace ohm::lua
