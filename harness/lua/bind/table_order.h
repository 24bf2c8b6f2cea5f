// The order of a table's entries where keys have none: the same in every process.
#pragma once

#include <cstdint>
#include <functional>
#include <lua.hpp>
#include <optional>
#include <string>
#include <vector>

namespace ohm::lua {

/// When the tensors in the value at `index` got their handles, the oldest first. Tables that are
/// nested deeper than `levels` are left out.
std::vector<std::uint64_t> ages_of_tensors(lua_State* L, int index, int levels);

/// Calls visit() for each entry of the table at `index`, with its key and its value on top of the
/// stack, where they stay. Keys with an order (table_key.h) come first, then the others by the
/// tensors in their values: the oldest first, those without any last.
void for_each_entry(lua_State* L, int index, const std::function<void()>& visit);

/// The type of a key of the table at `index` for which `is_taken` is false; nullopt: there is none.
/// Of several types the first by name: which of such keys a table has first is another in each
/// process.
std::optional<std::string> refused_key_type(lua_State* L, int index,
                                            bool (*is_taken)(lua_State* L, int key));

/// For refused_key_type(): a key with an order.
bool has_order(lua_State* L, int key);

}  // namespace ohm::lua
