#include "harness/lua/libraries/fixed_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/vm/push_text.h"

namespace ohm::lua {
namespace {

struct Key {
  enum class Kind { integer, number, string, boolean };
  Kind kind = Kind::integer;
  lua_Integer integer = 0;  // of a boolean: 0 or 1
  lua_Number number = 0;    // of an integer too
  std::string_view text;    // owned by the table

  int group() const { return std::max(static_cast<int>(kind), 1); }
  friend bool operator<(const Key& a, const Key& b) {
    return std::tuple(a.group(), a.number, a.integer, a.text) <
           std::tuple(b.group(), b.number, b.integer, b.text);
  }
};

Key key_at(lua_State* L, int index) {
  Key key;
  switch (lua_type(L, index)) {
    case LUA_TNUMBER:
      key.kind = lua_isinteger(L, index) != 0 ? Key::Kind::integer : Key::Kind::number;
      key.integer = lua_tointeger(L, index);
      key.number = lua_tonumber(L, index);
      return key;
    case LUA_TSTRING: {
      std::size_t length = 0;
      const char* text = lua_tolstring(L, index, &length);
      key.kind = Key::Kind::string;
      key.text = {text, length};
      return key;
    }
    case LUA_TBOOLEAN:
      key.kind = Key::Kind::boolean;
      key.integer = lua_toboolean(L, index);
      return key;
    default:
      throw std::invalid_argument(
          fmt::format("[pairs] a table with a {} among its keys has no fixed order: keep them in a "
                      "list",
                      type_of(L, index)));
  }
}

void push_key(lua_State* L, const Key& key) {
  switch (key.kind) {
    case Key::Kind::integer:
      lua_pushinteger(L, key.integer);
      break;
    case Key::Kind::number:
      lua_pushnumber(L, key.number);
      break;
    case Key::Kind::string:
      push_text(L, key.text);
      break;
    case Key::Kind::boolean:
      lua_pushboolean(L, static_cast<int>(key.integer));
      break;
  }
}

std::vector<Key> sorted_keys(lua_State* L, int table) {
  std::vector<Key> keys;
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) keys.push_back(key_at(L, -2));
  std::sort(keys.begin(), keys.end());
  return keys;
}

// The iterator of pairs(). Upvalues: the list of keys, and how many of them are done.
int next_of_list(lua_State* L) {
  for (;;) {
    const lua_Integer done = lua_tointeger(L, lua_upvalueindex(2)) + 1;
    lua_pushinteger(L, done);
    lua_replace(L, lua_upvalueindex(2));
    if (lua_rawgeti(L, lua_upvalueindex(1), done) == LUA_TNIL) return 1;
    lua_pushvalue(L, -1);
    if (lua_rawget(L, 1) != LUA_TNIL) return 2;
    lua_pop(L, 2);
  }
}

}  // namespace

int pairs_in_order(lua_State* L) {
  luaL_checkany(L, 1);
  if (luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL) {
    lua_pushvalue(L, 1);
    lua_call(L, 1, 3);
    return 3;
  }
  luaL_checktype(L, 1, LUA_TTABLE);
  const std::vector<Key> keys = sorted_keys(L, 1);
  lua_createtable(L, static_cast<int>(keys.size()), 0);
  lua_Integer count = 0;
  for (const Key& key : keys) {
    push_key(L, key);
    lua_rawseti(L, -2, ++count);
  }
  lua_pushinteger(L, 0);
  lua_pushcclosure(L, &next_of_list, 2);
  lua_pushvalue(L, 1);
  lua_pushnil(L);
  return 3;
}

int next_in_order(lua_State* L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  const std::vector<Key> keys = sorted_keys(L, 1);
  auto at = keys.begin();
  if (!lua_isnil(L, 2)) at = std::upper_bound(keys.begin(), keys.end(), key_at(L, 2));
  if (at == keys.end()) {
    lua_pushnil(L);
    return 1;
  }
  push_key(L, *at);
  lua_pushvalue(L, -1);
  lua_rawget(L, 1);
  return 2;
}

}  // namespace ohm::lua
