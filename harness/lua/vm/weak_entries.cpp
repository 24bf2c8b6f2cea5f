// What weak tables hold, for scripts that are watched: see Note [Lifetimes without a collection].
#include <algorithm>

#include "harness/lua/vm/lifetimes.h"

namespace ohm::lua {

/// Of a metatable: what its tables do not keep alive; empty where that is nothing.
std::string_view Lifetimes::mode_in(lua_State* L, RawValue metatable) const {
  if (metatable.tag != raw::kTable) return {};
  raw::push(L, metatable);
  raw::push(L, mode_name_);
  const bool has_one = lua_rawget(L, -2) == LUA_TSTRING;
  // The metatable keeps the string.
  const std::string_view mode = has_one ? lua_tostring(L, -1) : "";
  lua_pop(L, 2);
  return mode;
}

void Lifetimes::note_weakness(lua_State* L, Node& table) const {
  raw::push(L, table.value);
  if (lua_getmetatable(L, -1) != 0) {
    const std::string_view mode = mode_in(L, raw::value_at(L, -1));
    table.has_weak_keys = mode.find('k') != std::string_view::npos;
    table.has_weak_values = mode.find('v') != std::string_view::npos;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/// A value under a key that may go is the key's, as long as the table is there; one that is the key
/// itself keeps nothing alive. A key whose value may go outlives it by a collection: Lua has marked
/// it by then.
void Lifetimes::add_entry(lua_State* L, Node& table, RawValue key, RawValue value) {
  const bool is_key_weak = table.has_weak_keys && is_counted(key);
  const bool is_value_weak = table.has_weak_values && is_counted(value);
  if (is_key_weak) {
    hold_weakly(L, table, key, key);
  } else {
    if (is_value_weak && is_counted(key)) has_given_up_ = true;
    refer(L, table, key);
  }
  if (is_value_weak) {
    hold_weakly(L, table, key, value);
  } else if (!is_key_weak) {
    refer(L, table, value);
  } else if (key.content != value.content) {
    refer(L, *counts_.find(key.content), value, &table);
  }
}

void Lifetimes::remove_entry(Node& table, RawValue key, RawValue value) {
  const bool is_key_weak = table.has_weak_keys && is_counted(key);
  if (table.has_weak_values && is_counted(value)) {
    forget_weak_entry(table, key, value);
  } else if (!is_key_weak) {
    drop(table, value);
  } else if (key.content != value.content) {
    drop(*counts_.find(key.content), value, &table);
  }
  if (is_key_weak) {
    forget_weak_entry(table, key, key);
  } else {
    drop(table, key);
  }
}

void Lifetimes::hold_weakly(lua_State* L, Node& table, RawValue key, RawValue held) {
  node_of(L, held).is_held_weakly = true;
  weak_entries_.emplace(held.content, WeakEntry{&table, key});
  newly_held_.push_back(held.content);
}

void Lifetimes::forget_weak_entry(const Node& table, RawValue key, RawValue held) {
  const auto [first, last] = weak_entries_.equal_range(held.content);
  const auto known = std::find_if(first, last, [&](const auto& entry) {
    return entry.second.table == &table && entry.second.key == key;
  });
  if (known != last) {
    weak_entries_.erase(known);
  } else {
    is_unsure_ = true;  // a key of two kinds, as 1 and 1.0 are
  }
}

/// Nothing may have come to refer to it by now, or nothing but what it leads to.
void Lifetimes::suspect_what_is_held_weakly() {
  for (const void* const content : newly_held_) {
    if (Node* const node = counts_.find(content)) counts_.suspect(*node);
  }
  newly_held_.clear();
}

/// As the collector does with what dies: nobody finds it there any more.
void Lifetimes::clear_weak_entries(lua_State* L, const Node& node) {
  const void* const dead = node.value.content;
  while (!is_unsure_) {
    const auto held = weak_entries_.find(dead);
    if (held == weak_entries_.end()) return;
    clear(L, WeakEntry(held->second), dead);
  }
}

void Lifetimes::clear(lua_State* L, const WeakEntry& entry, const void* dead) {
  raw::push(L, entry.table->value);
  raw::push(L, entry.key);
  lua_rawget(L, -2);
  const RawValue value = raw::value_at(L, -1);
  lua_pop(L, 1);
  if (value.is_nil() || (entry.key.content != dead && value.content != dead)) {
    is_unsure_ = true;  // a native has moved it
  } else {
    raw::push(L, entry.key);
    lua_pushnil(L);
    lua_rawset(L, -3);
    remove_entry(*entry.table, entry.key, value);
  }
  lua_pop(L, 1);
}

}  // namespace ohm::lua
