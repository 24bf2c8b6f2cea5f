#include "harness/lua/libraries/table_functions.h"

#include "harness/lua/libraries/wrapped_functions.h"
#include "harness/lua/vm/interpreter.h"
#include "harness/lua/vm/raw_values.h"

namespace ohm::lua {
namespace {

// Whether no function of the script can be called for an element that is read or written.
bool is_plain_table(lua_State* L) {
  if (lua_type(L, 1) != LUA_TTABLE) return false;
  if (lua_getmetatable(L, 1) == 0) return true;
  lua_pop(L, 1);
  return false;
}

// The same of what is appended, where the metatable says how weak the table is and no more.
bool is_appended_to(lua_State* L) {
  if (lua_type(L, 1) != LUA_TTABLE || lua_gettop(L) != 2) return false;
  for (const char* name : {"__index", "__newindex", "__len"}) {
    if (luaL_getmetafield(L, 1, name) == LUA_TNIL) continue;
    lua_pop(L, 1);
    return false;
  }
  return true;
}

int call_unwatched(lua_State* L) {
  const Lifetimes::Pause pause(Interpreter::of(L).lifetimes());
  return call_original(L);
}

int insert_value(lua_State* L) {
  Lifetimes& lifetimes = Interpreter::of(L).lifetimes();
  if (is_appended_to(L)) {
    lifetimes.before_append(L, 1);
    return call_original(L);
  }
  if (!is_plain_table(L)) return call_unwatched(L);
  lifetimes.note_written(L);
  const RawValue table = raw::value_at(L, 1);
  const RawValue value = lua_gettop(L) < 3 ? RawValue() : raw::value_at(L, 3);
  const int results = call_original(L);
  lifetimes.note_inserted(L, table, value);
  return results;
}

int remove_value(lua_State* L) {
  if (!is_plain_table(L)) return call_unwatched(L);
  Lifetimes& lifetimes = Interpreter::of(L).lifetimes();
  lifetimes.note_written(L);
  const RawValue table = raw::value_at(L, 1);
  const int results = call_original(L);
  lifetimes.note_removed(L, table, raw::value_at(L, -1));
  return results;
}

// Elements change their places alone, whatever function compares them.
int sort_values(lua_State* L) {
  if (!is_plain_table(L)) return call_unwatched(L);
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
  wrap_functions(L, kWriting);
  return 1;
}

}  // namespace ohm::lua
