// Lua's table library, which tells what it writes.
#pragma once

#include <lua.hpp>

namespace ohm::lua {

/// An opener, as luaopen_table: the same functions, messages and errors.
int open_table(lua_State* L);

}  // namespace ohm::lua
