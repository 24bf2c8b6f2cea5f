// The references among the values that objects of a script lead to, and the cycles in them.
#pragma once

#include <lua.hpp>

#include <cstddef>
#include <unordered_map>
#include <vector>

namespace ohm::lua {

/// Tables, functions and full userdata that some values lead to, themselves included, as far as
/// scripts can make references: user values of handles (an object's attributes), tables with their
/// metatables and the variables of functions; what a weak table does not keep alive is none. Made
/// in a time that is linear in values and references, without recursion. Valid until the script
/// runs again.
class ReferenceGraph {
 public:
  using Index = std::size_t;

  /// Of what the list (a Lua table) at `roots` leads to; its values are 0, 1, ... in their order,
  /// for as many as differ. Pushes a table that it needs for as long as it lives.
  ReferenceGraph(lua_State* L, int roots);

  std::size_t size() const { return addresses_.size(); }
  const void* address(Index value) const { return addresses_[value]; }
  /// Pre-condition: the value is there.
  Index index_of(const void* address) const { return indices_.at(address); }
  void push(Index value) const;

  /// For each value: whether it leads to itself.
  std::vector<bool> in_cycles() const;
  /// What these lead to, themselves included, each once: depth first, references in the order in
  /// which they are found in a value.
  std::vector<Index> reached_from(const std::vector<Index>& starts) const;

 private:
  class Components;

  /// Alive where the table and its key are.
  struct UnderWeakKey {
    Index table;
    Index value;
  };

  void find_references(Index from);
  void add_entries(Index from, int table);
  bool is_value(int index) const;
  void add_reference();
  Index add_value(int index);
  void reach(std::vector<Index>& waiting, std::vector<Index>& reached,
             std::vector<bool>& is_reached) const;

  lua_State* state_;
  int values_;  ///< the table, by index + 1
  std::vector<const void*> addresses_;
  std::unordered_map<const void*, Index> indices_;
  std::vector<Index> references_;  ///< those of one value after those of another
  std::vector<UnderWeakKey> under_weak_keys_;
  std::vector<std::size_t> first_;  ///< of a value's references; one more than there are values
};

}  // namespace ohm::lua
