#include "harness/lua/libraries/table_functions.h"

#include "harness/lua/vm/interpreter.h"
#include "harness/lua/vm/raw_values.h"

namespace ohm::lua {
namespace {

// Called in the same frame: messages name the function and its arguments as ever.
int call_original(lua_State* L) { return lua_tocfunction(L, lua_upvalueindex(1))(L); }

// A function of the script may be called for an element that is read or written.
bool has_metatable(lua_State* L, int index) {
  if (lua_getmetatable(L, index) == 0) return false;
  lua_pop(L, 1);
  return true;
}

int call_unwatched(lua_State* L) {
  const Lifetimes::Pause pause(Interpreter::of(L).lifetimes());
  return call_original(L);
}

int insert_value(lua_State* L) {
  if (lua_type(L, 1) != LUA_TTABLE || has_metatable(L, 1)) return call_unwatched(L);
  Lifetimes& lifetimes = Interpreter::of(L).lifetimes();
  if (lua_gettop(L) == 2) {
    lifetimes.before_append(L, 1);
    return call_original(L);
  }
  lifetimes.note_written(L);
  const RawValue table = raw::value_at(L, 1);
  const RawValue value = lua_gettop(L) < 3 ? RawValue() : raw::value_at(L, 3);
  const int results = call_original(L);
  lifetimes.note_inserted(L, table, value);
  return results;
}

int remove_value(lua_State* L) {
  if (lua_type(L, 1) != LUA_TTABLE || has_metatable(L, 1)) return call_unwatched(L);
  Lifetimes& lifetimes = Interpreter::of(L).lifetimes();
  lifetimes.note_written(L);
  const RawValue table = raw::value_at(L, 1);
  const int results = call_original(L);
  lifetimes.note_removed(L, table, raw::value_at(L, -1));
  return results;
}

// Elements change their places alone, whatever function compares them.
int sort_values(lua_State* L) {
  if (lua_type(L, 1) != LUA_TTABLE || has_metatable(L, 1)) return call_unwatched(L);
  Lifetimes& lifetimes = Interpreter::of(L).lifetimes();
  lifetimes.note_written(L);
  const Lifetimes::Permutation permutation(lifetimes, raw::value_at(L, 1));
  return call_original(L);
}

constexpr luaL_Reg kWriting[] = {
    {"insert", insert_value},
    {"move", call_unwatched},
    {"remove", remove_value},
    {"sort", sort_values},
};

}  // namespace

int open_table(lua_State* L) {
  luaopen_table(L);
  for (const luaL_Reg& function : kWriting) {
    lua_getfield(L, -1, function.name);
    lua_pushcclosure(L, function.func, 1);
    lua_setfield(L, -2, function.name);
  }
  return 1;
}

}  // namespace ohm::lua
