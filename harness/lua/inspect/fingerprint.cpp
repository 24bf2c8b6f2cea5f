#include "harness/lua/inspect/fingerprint.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "allocator_shim/fault/fault_point.h"
#include "harness/lua/bind/handle.h"
#include "harness/lua/libraries/scenario_library.h"

namespace ohm::lua {
namespace {

/// A value as a table or a function holds it: by itself, or an object.
struct Held {
  static constexpr std::size_t kNoObject = ~std::size_t{0};
  std::uint64_t hash = 0;
  std::size_t object = kNoObject;
};

struct FingerprintEdge {
  std::uint64_t name = 0;  ///< a key that is not an object, or which upvalue it is
  Held to;
};

struct FingerprintObject {
  std::uint64_t hash = 0;  ///< of what it is by itself
  std::vector<FingerprintEdge> edges;
};

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t bits = (a + 0x9e3779b97f4a7c15U) * 0xd6e8feb86659fd93U;
  bits = ((bits ^ (bits >> 32U)) + b) * 0xd6e8feb86659fd93U;
  return bits ^ (bits >> 32U);
}

std::uint64_t text_hash(std::string_view text) { return PointHash().add(text).value(); }

/// The objects that a state can reach, nearest first.
class ObjectGraph {
 public:
  /// From the registry, with all that is global, and from the values on the stack of `L`.
  explicit ObjectGraph(lua_State* L) : state_(L) {
    const int roots = lua_gettop(L);
    lua_newtable(L);
    list_ = lua_gettop(L);
    lua_pushvalue(L, LUA_REGISTRYINDEX);
    roots_.push_back(take());
    for (int root = 1; root <= roots; ++root) {
      lua_pushvalue(L, root);
      roots_.push_back(take());
    }
    for (std::size_t i = 0; i < objects_.size() && !is_opaque_; ++i) visit(i);
  }

  bool is_opaque() const { return is_opaque_; }

  /// Of the whole graph: its objects are numbered in an order that only their contents decide, and
  /// each one's contents are written down with these numbers. Where keys are objects that look the
  /// same, the order may be another one in an equal state, which then counts as another state.
  std::uint64_t hash() {
    std::vector<std::size_t> order;  // of the objects, as they are reached
    std::vector<std::size_t> places(objects_.size(), Held::kNoObject);  // in it
    std::uint64_t total = 0;
    const auto add = [&](const Held& held) {
      if (held.object == Held::kNoObject) {
        total = mixed(total, held.hash);
        return;
      }
      std::size_t& place = places[held.object];
      if (place == Held::kNoObject) {
        place = order.size();
        order.push_back(held.object);
      }
      total = mixed(total, mixed(9, place));
    };
    for (const Held& root : roots_) add(root);
    // What is added is visited, too.
    for (std::size_t visited = 0; visited != order.size();) {
      FingerprintObject& object = objects_[order[visited++]];
      std::vector<FingerprintEdge>& edges = object.edges;
      total = mixed(mixed(total, object.hash), edges.size());
      std::stable_sort(
          edges.begin(), edges.end(),
          [](const FingerprintEdge& a, const FingerprintEdge& b) { return a.name < b.name; });
      for (const FingerprintEdge& edge : edges) {
        total = mixed(total, edge.name);
        add(edge.to);
      }
    }
    return total;
  }

 private:
  /// The value on top of the stack, which is popped; an object that is new is visited later.
  Held take() {
    Held held;
    switch (lua_type(state_, -1)) {
      case LUA_TNIL:
        break;
      case LUA_TBOOLEAN:
        held.hash = mixed(1, lua_toboolean(state_, -1) == 0 ? 0 : 1);
        break;
      case LUA_TNUMBER:
        held.hash = number_hash();
        break;
      case LUA_TSTRING: {
        std::size_t length = 0;
        const char* const text = lua_tolstring(state_, -1, &length);
        held.hash = text_hash({text, length});
        break;
      }
      case LUA_TLIGHTUSERDATA:
        held.hash = mixed(2, reinterpret_cast<std::uintptr_t>(lua_touserdata(state_, -1)));
        break;
      case LUA_TFUNCTION:
        if (is_bare_native()) {
          held.hash = native_hash(-1);
          break;
        }
        [[fallthrough]];
      default:
        held.object = object_on_top();
    }
    lua_pop(state_, 1);
    return held;
  }

  /// Most of what a script can reach are these: the functions of libraries.
  bool is_bare_native() const {
    if (lua_iscfunction(state_, -1) == 0) return false;
    if (lua_getupvalue(state_, -1, 1) == nullptr) return true;
    lua_pop(state_, 1);
    return false;
  }

  std::uint64_t native_hash(int function) const {
    return mixed(8, reinterpret_cast<std::uintptr_t>(lua_tocfunction(state_, function)));
  }

  std::uint64_t number_hash() const {
    if (lua_isinteger(state_, -1) != 0)
      return mixed(3, static_cast<std::uint64_t>(lua_tointeger(state_, -1)));
    const double number = lua_tonumber(state_, -1);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    return mixed(4, bits);
  }

  std::size_t object_on_top() {
    const auto [known, is_new] = numbers_.try_emplace(lua_topointer(state_, -1), objects_.size());
    if (is_new) {
      objects_.push_back({mixed(5, static_cast<std::uint64_t>(lua_type(state_, -1))), {}});
      lua_pushvalue(state_, -1);
      lua_rawseti(state_, list_, static_cast<lua_Integer>(objects_.size()));
    }
    return known->second;
  }

  /// A variable that functions share is an object of its own. On top of the stack: its value.
  void take_variable(std::size_t function, int function_at, int index) {
    const void* const id = lua_upvalueid(state_, function_at, index);
    const auto [known, is_new] = numbers_.try_emplace(id, objects_.size());
    const std::size_t variable = known->second;
    if (is_new) {
      objects_.push_back({mixed(10, 0), {}});
      lua_pushboolean(state_, 0);  // nothing is left to visit
      lua_rawseti(state_, list_, static_cast<lua_Integer>(objects_.size()));
      add_edge(variable, 0);
    } else {
      lua_pop(state_, 1);
    }
    objects_[function].edges.push_back({static_cast<std::uint64_t>(index), {0, variable}});
  }

  void visit(std::size_t number) {
    lua_rawgeti(state_, list_, static_cast<lua_Integer>(number) + 1);
    const int object = lua_gettop(state_);
    switch (lua_type(state_, object)) {
      case LUA_TTABLE:
        visit_table(number, object);
        break;
      case LUA_TFUNCTION:
        visit_function(number, object);
        break;
      case LUA_TUSERDATA:
        visit_handle(number, object);
        break;
      case LUA_TBOOLEAN:
        break;
      default:
        visit_thread(object);
    }
    lua_settop(state_, object - 1);
  }

  void add_edge(std::size_t number, std::uint64_t name) {
    const Held to = take();
    objects_[number].edges.push_back({name, to});
  }

  /// An entry whose key is an object is one itself, so that the two stay together.
  void add_entry(std::size_t table, const Held& key) {
    const std::size_t entry = objects_.size();
    objects_.push_back({mixed(6, 0), {{0, key}}});
    lua_pushboolean(state_, 0);
    lua_rawseti(state_, list_, static_cast<lua_Integer>(objects_.size()));
    add_edge(entry, 1);
    objects_[table].edges.push_back({mixed(6, 0), {0, entry}});
  }

  void visit_table(std::size_t number, int table) {
    for (lua_pushnil(state_); lua_next(state_, table) != 0;) {
      lua_pushvalue(state_, -2);
      const Held key = take();
      if (key.object == Held::kNoObject) {
        add_edge(number, key.hash);
      } else {
        add_entry(number, key);
      }
    }
    if (lua_getmetatable(state_, table) != 0) add_edge(number, mixed(7, 0));
  }

  void visit_function(std::size_t number, int function) {
    if (lua_iscfunction(state_, function) != 0) {
      objects_[number].hash = native_hash(function);
      for (int i = 1; lua_getupvalue(state_, function, i) != nullptr; ++i) {
        add_edge(number, static_cast<std::uint64_t>(i));
      }
    } else {
      objects_[number].hash = code_hash(function);
      for (int i = 1; lua_getupvalue(state_, function, i) != nullptr; ++i)
        take_variable(number, function, i);
    }
  }

  /// Functions of one line are told apart by what they do.
  std::uint64_t code_hash(int function) {
    lua_Debug info;
    lua_pushvalue(state_, function);
    lua_getinfo(state_, ">S", &info);
    PointHash hash;
    hash.add(info.short_src);
    const auto add = [](lua_State* /*L*/, const void* bytes, std::size_t size, void* to) {
      static_cast<PointHash*>(to)->add({static_cast<const char*>(bytes), size});
      return 0;
    };
    lua_pushvalue(state_, function);
    lua_dump(state_, add, &hash, /*strip=*/1);
    lua_pop(state_, 1);
    return hash.value();
  }

  /// A scenario holds the functions of its variants; any other handle has a state of its own.
  void visit_handle(std::size_t number, int handle) {
    if (test_scenario(state_, handle) == nullptr) {
      is_opaque_ = true;
      return;
    }
    for (int i = 1; lua_getiuservalue(state_, handle, i) != LUA_TNONE; ++i) {
      add_edge(number, static_cast<std::uint64_t>(i));
    }
  }

  /// The main thread has ended its calls; a coroutine may be anywhere in one.
  void visit_thread(int thread) {
    lua_rawgeti(state_, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    if (lua_rawequal(state_, thread, -1) == 0) is_opaque_ = true;
  }

  lua_State* state_;
  int list_ = 0;
  bool is_opaque_ = false;
  std::vector<Held> roots_;
  std::unordered_map<const void*, std::size_t> numbers_;
  std::vector<FingerprintObject> objects_;
};

}  // namespace

std::optional<std::uint64_t> fingerprint_of(lua_State* L) {
  std::optional<std::uint64_t> fingerprint;
  const int roots = lua_gettop(L);
  if (lua_checkstack(L, roots + LUA_MINSTACK) == 0) return fingerprint;
  // In a call of its own: a script at its memory's cap has none for the list of its objects.
  lua_pushcfunction(L, [](lua_State* walked) {
    auto* const result = static_cast<std::optional<std::uint64_t>*>(lua_touserdata(walked, -1));
    lua_pop(walked, 1);
    ObjectGraph graph(walked);
    if (!graph.is_opaque()) *result = graph.hash();
    return 0;
  });
  for (int root = 1; root <= roots; ++root) lua_pushvalue(L, root);
  lua_pushlightuserdata(L, &fingerprint);
  if (lua_pcall(L, roots + 1, 0, 0) != LUA_OK) lua_pop(L, 1);
  return fingerprint;
}

}  // namespace ohm::lua
