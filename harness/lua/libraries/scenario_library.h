// ohm.scenario{…}, ohm.params{…} and ohm.step().
#pragma once

#include <lua.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/scenario/scenario.h"

namespace ohm::lua {

std::span<const luaL_Reg> scenario_functions();

/// The description that ohm.scenario{…} made of its table, if the value at `index` is what it
/// returned; nullptr otherwise.
std::shared_ptr<engine::ScenarioDescription> test_scenario(lua_State* L, int index);

/// Pushes the `next_step` of a variant of the scenario at `index`; nil when there is none.
void push_next_step(lua_State* L, int index, const std::string& variant);

/// Pushes the variant's function; nil when there is no such variant.
void push_variant_function(lua_State* L, int index, const std::string& variant);

/// Lets go of the functions of all other variants.
void keep_variant_functions(lua_State* L, int index, const std::vector<std::string>& variants);

}  // namespace ohm::lua
