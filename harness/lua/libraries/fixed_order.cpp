#include "harness/lua/libraries/fixed_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/table_order.h"
#include "harness/lua/vm/table_key.h"

namespace ohm::lua {
namespace {

[[noreturn]] void refuse_key(const std::string& type) {
  throw std::invalid_argument(fmt::format(
      "[pairs] a table with a {} among its keys has no fixed order: keep them in a list", type));
}

TableKey key_at(lua_State* L, int index) {
  if (const std::optional<TableKey> key = table_key(L, index)) return *key;
  refuse_key(type_of(L, index));
}

std::vector<TableKey> sorted_keys(lua_State* L, int table) {
  if (const auto refused = refused_key_type(L, table, &has_order)) refuse_key(*refused);
  return ordered_keys(L, table);
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
  const std::vector<TableKey> keys = sorted_keys(L, 1);
  lua_createtable(L, static_cast<int>(keys.size()), 0);
  lua_Integer count = 0;
  for (const TableKey& key : keys) {
    key.push(L);
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
  const std::vector<TableKey> keys = sorted_keys(L, 1);
  auto at = keys.begin();
  if (!lua_isnil(L, 2)) at = std::upper_bound(keys.begin(), keys.end(), key_at(L, 2));
  if (at == keys.end()) {
    lua_pushnil(L);
    return 1;
  }
  at->push(L);
  lua_pushvalue(L, -1);
  lua_rawget(L, 1);
  return 2;
}

}  // namespace ohm::lua
