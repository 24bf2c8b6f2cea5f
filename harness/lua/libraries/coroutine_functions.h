// Lua's coroutine library, which tells which coroutine runs.
#pragma once

#include <lua.hpp>

namespace ohm::lua {

/// An opener, as luaopen_coroutine: the same functions, messages and errors.
int open_coroutine(lua_State* L);

}  // namespace ohm::lua
