// Text functions: tostring, print and string.format without what differs from run to run: an object
// without a
// __tostring of its own is written "table", not "table: 0x55…", and not-a-number "nan", whatever
// its sign.
#pragma once

#include <lua.hpp>

namespace ohm::lua {

int text_of_value(lua_State* L);  ///< tostring(value)
int print(lua_State* L);          ///< print(...), to stderr

/// string.format(format, ...) refuses "%p". Its upvalue is Lua's own string.format.
int format_text(lua_State* L);

}  // namespace ohm::lua
