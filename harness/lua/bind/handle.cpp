#include "harness/lua/bind/handle.h"

#include <algorithm>
#include <string_view>

namespace ohm::lua {

const HandleClass* handle_class(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TUSERDATA) return nullptr;
  return *static_cast<const HandleClass* const*>(lua_touserdata(L, index));
}

void push_metatable(lua_State* L, const HandleClass& kind, const HandleEnd& end) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &kind) == LUA_TTABLE) return;
  lua_pop(L, 1);
  const ClassBinding* binding = Interpreter::of(L).bindings().find_class(kind);
  const auto metamethods = binding == nullptr ? kind.metamethods : binding->metamethods;
  lua_createtable(L, 0, static_cast<int>(metamethods.size()) + 4);
  lua_pushstring(L, kind.name);
  lua_setfield(L, -2, "__name");
  lua_pushcfunction(L, end.collect);
  lua_setfield(L, -2, "__gc");
  lua_pushcfunction(L, end.close);
  lua_setfield(L, -2, "__close");
  for (const luaL_Reg& method : metamethods) {
    lua_pushcfunction(L, method.func);
    lua_setfield(L, -2, method.name);
  }
  // Hidden from getmetatable: a script that could call __gc could end a handle in use.
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  Interpreter& interpreter = Interpreter::of(L);
  interpreter.lifetimes().note_held(L, -1);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &kind);
  const bool has_own_end =
      std::any_of(metamethods.begin(), metamethods.end(),
                  [](const luaL_Reg& row) { return row.name == std::string_view("__gc"); });
  interpreter.note_handle_class(kind, has_own_end ? nullptr : end.end_early);
}

}  // namespace ohm::lua
