// Traversal of tables in an order that is the same on every run.
//
// A hash table's own order depends on addresses and on a seed taken from the clock. Here numbers
// come first, in ascending order, then strings in byte order, then false and true. Keys of other
// types have no order that could be fixed: std::invalid_argument.
#pragma once

#include <lua.hpp>

namespace ohm::lua {

/// pairs(t). The keys are those that `t` has at the call; one that is gone by its turn is skipped.
int pairs_in_order(lua_State* L);

/// next(t [, key]): the key after `key`, and its value. Takes time proportional to the table.
int next_in_order(lua_State* L);

}  // namespace ohm::lua
