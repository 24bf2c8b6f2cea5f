// ohm.optim.lr_scheduler: constructors of learning-rate schedulers.
#pragma once

#include <lua.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::lua {

/// Pushes the constructor of the registry's scheduler of this name, or nothing.
bool push_lr_scheduler_constructor(lua_State* L, std::string_view name);
std::vector<std::string> lr_scheduler_names();

/// The same of those that go with averages of weights: ohm.optim.swa_utils.
bool push_averaging_scheduler(lua_State* L, std::string_view name);
std::vector<std::string> averaging_scheduler_names();

/// Those that take functions or other schedulers.
std::span<const luaL_Reg> lr_scheduler_functions();

}  // namespace ohm::lua
