// Functions of Lua's own libraries in whose place stands one of ours that calls them.
#pragma once

#include <lua.hpp>

#include <span>

namespace ohm::lua {

/// Replaces functions of the library on top of the stack: each gets the one in whose place it comes
/// as its upvalue.
inline void wrap_functions(lua_State* L, std::span<const luaL_Reg> functions) {
  for (const luaL_Reg& function : functions) {
    lua_getfield(L, -1, function.name);
    lua_pushcclosure(L, function.func, 1);
    lua_setfield(L, -2, function.name);
  }
}

/// For such a function: calls Lua's in the same frame, so that messages name the function and its
/// arguments as ever.
inline int call_original(lua_State* L, int upvalue = 1) {
  return lua_tocfunction(L, lua_upvalueindex(upvalue))(L);
}

}  // namespace ohm::lua
