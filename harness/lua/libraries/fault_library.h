// ohm.fault: failures of allocations, as a scenario asks for them.
//
//   local guard <close> = ohm.fault.with(ohm.fault.nth(7) & ohm.fault.device("cuda:1"))
//   ohm.fault.with("nth(2)", function() ... end)
//
//   local found = ohm.fault.sweep(function() return step():item() end)   -- found.leak == 0
//
// sweep() fails every request of a short function, in this process. One function for each policy of
// a fault plan, with the arguments that its text has, gives a plan: p(0.01, {seed = 7}),
// size(">=64MiB"). Plans combine with `&`, and with `>>` for the text's `->`.
#pragma once

#include <lua.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::lua {

/// with, persistent, sweep.
std::span<const luaL_Reg> fault_functions();

bool push_fault_policy(lua_State* L, std::string_view name);
std::vector<std::string> fault_policy_names();

/// The text of the plan at `index`, which may be a text itself; nullopt for anything else.
std::optional<std::string> fault_plan_text(lua_State* L, int index);

}  // namespace ohm::lua
