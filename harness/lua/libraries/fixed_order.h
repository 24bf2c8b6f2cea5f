// Traversal of tables in an order that is the same on every run.
// The order is that of keys (table_key.h); a key of a type that has none: std::invalid_argument.
#pragma once

#include <lua.hpp>

namespace ohm::lua {

/// pairs(t). The keys are those that `t` has at the call; one that is gone by its turn is skipped.
int pairs_in_order(lua_State* L);

/// next(t [, key]): the key after `key`, and its value. Takes time proportional to the table.
int next_in_order(lua_State* L);

}  // namespace ohm::lua
