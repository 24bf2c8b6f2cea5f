// Functions of the runtime as a whole: ohm.manual_seed, ohm.is_tensor; what dtypes can hold, and
// numbers: ohm.finfo, ohm.pi.
#pragma once

#include <lua.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::lua {

std::span<const luaL_Reg> runtime_functions();

/// Pushes the number of this name, or nothing, and returns false.
bool push_number_constant(lua_State* L, std::string_view name);
std::vector<std::string> number_constant_names();

}  // namespace ohm::lua
