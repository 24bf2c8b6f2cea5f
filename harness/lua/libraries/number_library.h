// ohm: what numbers of a dtype can be, names of devices, and constants.
#pragma once

#include <lua.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::lua {

std::span<const luaL_Reg> number_functions();

/// Pushes ohm.pi, ohm.inf, …, or "float32" for ohm.float; or pushes nothing and returns false.
bool push_constant(lua_State* L, std::string_view name);
std::vector<std::string> constant_names();

}  // namespace ohm::lua
