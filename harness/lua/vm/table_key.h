// Keys of tables, in an order that is the same on every run.
//
// A hash table's own order depends on addresses and on a seed taken from the clock. Here numbers
// come first, in ascending order, then strings in byte order, then false and true. Keys of other
// types have no order that could be fixed.
#pragma once

#include <lua.hpp>
#include <optional>
#include <string_view>
#include <vector>

namespace ohm::lua {

struct TableKey {
  enum class Kind { integer, number, string, boolean };
  Kind kind = Kind::integer;
  lua_Integer integer = 0;  ///< of a boolean: 0 or 1
  lua_Number number = 0;    ///< of an integer too
  std::string_view text;    ///< owned by the table

  friend bool operator<(const TableKey& a, const TableKey& b);

  void push(lua_State* L) const;
};

/// Of the value at `index`; nullopt for a type without an order.
std::optional<TableKey> table_key(lua_State* L, int index);

/// Those keys of the table at `index` that have an order, in it.
std::vector<TableKey> ordered_keys(lua_State* L, int index);

}  // namespace ohm::lua
