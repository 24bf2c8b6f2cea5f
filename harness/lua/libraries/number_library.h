// ohm: what numbers of a dtype can be, constants, and small questions about tensors.
#pragma once

#include <lua.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::lua {

std::span<const luaL_Reg> number_functions();
/// x:detach_() and others.
std::span<const luaL_Reg> tensor_number_methods();

/// Pushes ohm.pi, ohm.inf, …, or "float32" for ohm.float; or pushes nothing and returns false.
bool push_constant(lua_State* L, std::string_view name);
std::vector<std::string> constant_names();

}  // namespace ohm::lua
