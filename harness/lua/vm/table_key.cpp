#include "harness/lua/vm/table_key.h"

#include <algorithm>
#include <tuple>

#include "harness/lua/vm/push_text.h"

namespace ohm::lua {

bool operator<(const TableKey& a, const TableKey& b) {
  // Integers and other numbers are one group.
  const auto group = [](const TableKey& key) { return std::max(static_cast<int>(key.kind), 1); };
  return std::tuple(group(a), a.number, a.integer, a.text) <
         std::tuple(group(b), b.number, b.integer, b.text);
}

void TableKey::push(lua_State* L) const {
  switch (kind) {
    case Kind::integer:
      return lua_pushinteger(L, integer);
    case Kind::number:
      return lua_pushnumber(L, number);
    case Kind::string:
      return push_text(L, text);
    case Kind::boolean:
      return lua_pushboolean(L, static_cast<int>(integer));
  }
}

std::optional<TableKey> table_key(lua_State* L, int index) {
  TableKey key;
  switch (lua_type(L, index)) {
    case LUA_TNUMBER:
      key.kind = lua_isinteger(L, index) != 0 ? TableKey::Kind::integer : TableKey::Kind::number;
      key.integer = lua_tointeger(L, index);
      key.number = lua_tonumber(L, index);
      return key;
    case LUA_TSTRING: {
      std::size_t length = 0;
      const char* text = lua_tolstring(L, index, &length);
      key.kind = TableKey::Kind::string;
      key.text = {text, length};
      return key;
    }
    case LUA_TBOOLEAN:
      key.kind = TableKey::Kind::boolean;
      key.integer = lua_toboolean(L, index);
      return key;
    default:
      return std::nullopt;
  }
}

std::vector<TableKey> ordered_keys(lua_State* L, int index) {
  const int table = lua_absindex(L, index);
  std::vector<TableKey> keys;
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    if (const std::optional<TableKey> key = table_key(L, -2)) keys.push_back(*key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace ohm::lua
