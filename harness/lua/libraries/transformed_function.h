// Functions that a script makes of functions: grad(f), vmap(f).
#pragma once

#include <lua.hpp>
#include <span>
#include <string_view>

namespace ohm::lua {

/// For natives like grad(f [, options…]): pushes `transformed` as a closure that has the function
/// and the options, which are read by position, in their order, or by name.
/// Throws std::invalid_argument where the first argument cannot be called.
int transform_function(lua_State* L, const char* name, std::span<const std::string_view> options,
                       lua_CFunction transformed);

/// For such a closure: pushes the function; pushes the option, or nil, and returns where it is.
void push_transformed(lua_State* L);
int push_transform_option(lua_State* L, const char* name);

/// Calls what is below `arguments` values on the stack, as lua_call, and lets go what the
/// function's variables held.
void call_transformed(lua_State* L, int arguments, int results);

}  // namespace ohm::lua
