#include "harness/lua/libraries/reference_graph.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace ohm::lua {

ReferenceGraph::ReferenceGraph(lua_State* L, int roots) : state_(L) {
  luaL_checkstack(L, LUA_MINSTACK, "references between objects");
  const int list = lua_absindex(L, roots);
  lua_newtable(L);
  values_ = lua_gettop(L);
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, list));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, list, i);
    add_value(-1);
    lua_pop(L, 1);
  }
  // Values are added as they are found: a breadth-first search.
  for (Index value = 0; value < size(); ++value) {
    first_.push_back(references_.size());
    find_references(value);
  }
  first_.push_back(references_.size());
}

void ReferenceGraph::push(Index value) const {
  lua_rawgeti(state_, values_, static_cast<lua_Integer>(value) + 1);
}

ReferenceGraph::Index ReferenceGraph::add_value(int index) {
  const auto [known, is_new] = indices_.try_emplace(lua_topointer(state_, index), size());
  if (is_new) {
    addresses_.push_back(known->first);
    lua_pushvalue(state_, index);
    lua_rawseti(state_, values_, static_cast<lua_Integer>(size()));
  }
  return known->second;
}

// Whether it is one of those that the graph is of.
bool ReferenceGraph::is_value(int index) const {
  const int type = lua_type(state_, index);
  return type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA;
}

// To the value on top, which is popped.
void ReferenceGraph::add_reference() {
  if (is_value(-1)) references_.push_back(add_value(-1));
  lua_pop(state_, 1);
}

// What a weak table does not keep alive is no reference of it. The value under such a key is none
// either, but stays with the table: the key, of which nothing is known here, may be alive.
void ReferenceGraph::add_entries(Index from, int table) {
  const bool has_mode = luaL_getmetafield(state_, table, "__mode") == LUA_TSTRING;
  const std::string mode = has_mode ? lua_tostring(state_, -1) : "";
  lua_settop(state_, table);
  const bool has_weak_keys = mode.find('k') != std::string::npos;
  const bool has_weak_values = mode.find('v') != std::string::npos;
  for (lua_pushnil(state_); lua_next(state_, table) != 0; lua_settop(state_, table + 1)) {
    const bool is_kept = is_value(-1) && !has_weak_values;
    if (has_weak_keys && is_value(-2)) {
      if (is_kept) under_weak_keys_.push_back({from, add_value(-1)});
      continue;
    }
    if (is_kept) references_.push_back(add_value(-1));
    if (is_value(-2)) references_.push_back(add_value(-2));
  }
  if (lua_getmetatable(state_, table) != 0) add_reference();
}

void ReferenceGraph::find_references(Index from) {
  push(from);
  const int value = lua_gettop(state_);
  switch (lua_type(state_, value)) {
    case LUA_TUSERDATA:
      for (int i = 1; lua_getiuservalue(state_, value, i) != LUA_TNONE; ++i) add_reference();
      break;
    case LUA_TTABLE:
      add_entries(from, value);
      break;
    case LUA_TFUNCTION:
      for (int i = 1; lua_getupvalue(state_, value, i) != nullptr; ++i) add_reference();
      break;
    default:
      break;
  }
  lua_settop(state_, value - 1);
}

/// Strongly connected components, by Tarjan's algorithm with a stack of its own.
class ReferenceGraph::Components {
 public:
  explicit Components(const ReferenceGraph& graph)
      : graph_(graph), order_(graph.size(), 0), lowest_(graph.size(), 0), cyclic_(graph.size()) {
    for (Index value = 0; value < graph.size(); ++value) {
      if (order_[value] == 0) search(value);
    }
  }

  std::vector<bool> take_cyclic() { return std::move(cyclic_); }

 private:
  static constexpr std::size_t kDone = SIZE_MAX;

  struct Visit {
    Index value;
    std::size_t next;  ///< of its references
  };

  void enter(Index value) {
    order_[value] = lowest_[value] = ++entered_;
    open_.push_back(value);
    visits_.push_back({value, graph_.first_[value]});
  }

  void search(Index root) {
    enter(root);
    while (!visits_.empty()) {
      Visit& visit = visits_.back();
      if (visit.next < graph_.first_[visit.value + 1]) {
        follow(visit.value, graph_.references_[visit.next++]);
      } else {
        leave(visit.value);
      }
    }
  }

  void follow(Index from, Index to) {
    if (from == to) cyclic_[from] = true;
    if (order_[to] == 0) {
      enter(to);
    } else if (order_[to] != kDone) {
      lowest_[from] = std::min(lowest_[from], order_[to]);
    }
  }

  void leave(Index value) {
    visits_.pop_back();
    if (!visits_.empty()) {
      const Index parent = visits_.back().value;
      lowest_[parent] = std::min(lowest_[parent], lowest_[value]);
    }
    if (lowest_[value] != order_[value]) return;
    const bool is_alone = open_.back() == value;
    for (Index member = graph_.size(); member != value;) {
      member = open_.back();
      open_.pop_back();
      order_[member] = kDone;
      if (!is_alone) cyclic_[member] = true;
    }
  }

  const ReferenceGraph& graph_;
  std::vector<std::size_t> order_;  ///< of entering, from 1; 0: not seen yet; kDone: in a component
  std::vector<std::size_t> lowest_;  ///< the first entered value that is reached and still open
  std::vector<bool> cyclic_;
  std::vector<Index> open_;
  std::vector<Visit> visits_;
  std::size_t entered_ = 0;
};

std::vector<bool> ReferenceGraph::in_cycles() const { return Components(*this).take_cyclic(); }

std::vector<ReferenceGraph::Index> ReferenceGraph::reached_from(
    const std::vector<Index>& starts) const {
  std::vector<Index> reached;
  std::vector<bool> is_reached(size());
  // The next one is on top: what is found first is put there last.
  std::vector<Index> waiting(starts.rbegin(), starts.rend());
  while (!waiting.empty()) {
    reach(waiting, reached, is_reached);
    for (const UnderWeakKey& entry : under_weak_keys_) {
      if (is_reached[entry.table] && !is_reached[entry.value]) waiting.push_back(entry.value);
    }
  }
  return reached;
}

void ReferenceGraph::reach(std::vector<Index>& waiting, std::vector<Index>& reached,
                           std::vector<bool>& is_reached) const {
  while (!waiting.empty()) {
    const Index value = waiting.back();
    waiting.pop_back();
    if (is_reached[value]) continue;
    is_reached[value] = true;
    reached.push_back(value);
    for (std::size_t i = first_[value + 1]; i > first_[value]; --i) {
      if (!is_reached[references_[i - 1]]) waiting.push_back(references_[i - 1]);
    }
  }
}

}  // namespace ohm::lua
