// Compilation of source text to a Lua function.
#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>

namespace ohm::lua {

/// Compiles `source` and pushes the function, or a message. `name` is as lua_load takes it. Returns
/// Lua's status.
///
/// Note [No tail calls]
/// Lua leaves the frame of a function whose last deed is `return f(x)`, and with it its variables.
/// Python does not: what the caller names stays alive while f runs, and counts. So the instruction
/// for such calls is replaced by the one for ordinary calls, which the compiler would have written
/// had it not been the last deed; the return that follows it is there in both cases.
int compile(lua_State* L, std::string_view source, const std::string& name);

}  // namespace ohm::lua
