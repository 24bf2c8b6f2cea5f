// Lua's own functions without a table: those that a script may call as they are.
#pragma once

#include <lua.hpp>
#include <span>
#include <string_view>

namespace ohm::lua {

std::span<const std::string_view> base_function_names();

/// The function of this name; nullptr when a script may not call one.
lua_CFunction base_function(std::string_view name);

/// Whether this is pcall or xpcall.
bool is_catching_function(lua_CFunction function);

}  // namespace ohm::lua
