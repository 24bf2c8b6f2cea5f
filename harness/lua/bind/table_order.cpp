#include "harness/lua/bind/table_order.h"

#include <algorithm>
#include <set>
#include <utility>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/table_key.h"

namespace ohm::lua {
namespace {

// Of entries whose tensors are nested deeper than this nothing is known.
constexpr int kMostOrderedLevels = 8;

class Ages {
 public:
  explicit Ages(lua_State* L) : state_(L) {}

  void add(int index, int levels) {
    if (test_handle<Tensor>(state_, index) != nullptr) {
      ages_.push_back(static_cast<const HandleHead*>(lua_touserdata(state_, index))->age);
    }
    const bool is_walked = lua_type(state_, index) == LUA_TTABLE && levels >= 0 &&
                           seen_.insert(lua_topointer(state_, index)).second;
    if (!is_walked) return;
    luaL_checkstack(state_, LUA_MINSTACK, nullptr);
    const int table = lua_absindex(state_, index);
    for (lua_pushnil(state_); lua_next(state_, table) != 0; lua_pop(state_, 1)) {
      add(-1, levels - 1);
    }
  }

  std::vector<std::uint64_t> take() {
    std::sort(ages_.begin(), ages_.end());
    return std::move(ages_);
  }

 private:
  lua_State* state_;
  std::set<const void*> seen_;
  std::vector<std::uint64_t> ages_;
};

struct AgedKey {
  std::vector<std::uint64_t> ages;
  lua_Integer place;  ///< in the list

  // What has no tensors comes last.
  friend bool operator<(const AgedKey& a, const AgedKey& b) {
    return a.ages.empty() || b.ages.empty() ? !a.ages.empty() && b.ages.empty() : a.ages < b.ages;
  }
};

/// Pushes a list of the keys that have no order.
std::vector<AgedKey> push_keys_without_order(lua_State* L, int table) {
  lua_newtable(L);
  const int list = lua_gettop(L);
  std::vector<AgedKey> keys;
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    if (has_order(L, -2)) continue;
    keys.push_back(
        {ages_of_tensors(L, -1, kMostOrderedLevels), static_cast<lua_Integer>(keys.size()) + 1});
    lua_pushvalue(L, -2);
    lua_rawseti(L, list, keys.back().place);
  }
  std::stable_sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace

std::vector<std::uint64_t> ages_of_tensors(lua_State* L, int index, int levels) {
  Ages ages(L);
  ages.add(index, levels);
  return ages.take();
}

void for_each_entry(lua_State* L, int index, const std::function<void()>& visit) {
  luaL_checkstack(L, LUA_MINSTACK, nullptr);
  const int table = lua_absindex(L, index);
  const int top = lua_gettop(L);
  const auto visit_key_on_top = [&] {
    lua_pushvalue(L, -1);
    lua_rawget(L, table);
    visit();
  };
  for (const TableKey& key : ordered_keys(L, table)) {
    key.push(L);
    visit_key_on_top();
    lua_settop(L, top);
  }
  for (const AgedKey& key : push_keys_without_order(L, table)) {
    lua_rawgeti(L, top + 1, key.place);
    visit_key_on_top();
    lua_settop(L, top + 1);
  }
  lua_settop(L, top);
}

std::optional<std::string> refused_key_type(lua_State* L, int index,
                                            bool (*is_taken)(lua_State* L, int key)) {
  const int table = lua_absindex(L, index);
  std::optional<std::string> refused;
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    if (is_taken(L, -2)) continue;
    std::string type = type_of(L, -2);
    if (!refused || type < *refused) refused = std::move(type);
  }
  return refused;
}

bool has_order(lua_State* L, int key) { return table_key(L, key).has_value(); }

}  // namespace ohm::lua
