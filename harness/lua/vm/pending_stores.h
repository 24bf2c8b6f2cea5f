// Pending stores: elements that a Lua function is about to write to tables, and what tables hold
// once it has.
#pragma once

#include <lua.hpp>

#include <cstddef>
#include <optional>
#include <vector>

#include "harness/lua/vm/bindings.h"
#include "harness/lua/vm/raw_values.h"
#include "runtime/base/inline_vector.h"

namespace ohm::lua {

class PendingStores {
 public:
  explicit PendingStores(lua_State* L) : state_(L) {}

  /// `table[key] = value`, later than those before; no value: one that is not known. Returns what
  /// the key has until then; where that is a handle, the new one takes its place.
  RawValue add(RawValue table, RawValue key, std::optional<RawValue> value);

  /// What the table has under the key once all of them are done.
  RawValue element(RawValue table, RawValue key) const;

  using Handles = InlineVector<const void*, 4>;

  /// Each full userdata that `value` is or has, as a table, in the order in which Python lets them
  /// go: a list its elements from the last to the first, a dictionary as they came, which is the
  /// order in which keys got their first handles. Of a very long list the first ones alone, of a
  /// very large dictionary none.
  Handles handles_in(RawValue value) const;

 private:
  struct Store {
    RawValue table;
    RawValue key;
    RawValue value;
  };
  struct Element {
    RawValue key;
    RawValue value;
  };
  using Elements = std::vector<Element>;

  /// What of a table is looked at: at most `count` elements at all, in tables within tables too.
  struct Budget {
    std::size_t count;
    int levels;
  };

  Elements elements_of(RawValue table, Budget& left) const;
  static void put(Elements& elements, Element element);
  HandleHead* handle_of(RawValue value) const;
  void add_handle(RawValue value, Handles& handles) const;
  void add_table(RawValue table, Budget& left, Handles& handles) const;
  void add_nested(RawValue value, Budget& left, Handles& handles) const;
  void add_dictionary(const Elements& elements, Budget& left, Handles& handles) const;

  lua_State* state_;
  std::vector<Store> stores_;
};

}  // namespace ohm::lua
