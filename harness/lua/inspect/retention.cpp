#include "harness/lua/inspect/retention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/optimizer_handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/inspect/reachable.h"
#include "harness/lua/vm/interpreter.h"
#include "harness/lua/vm/table_key.h"

namespace ohm::lua {

namespace {

using engine::BlockSizes;

struct Root {
  std::string variable;
  std::string function;
  int line = 0;
  Reachable reachable;
};

/// What tells entries apart whose keys have no order: where their tensors are. 0: of no tensor.
std::uint64_t address_of(lua_State* L, int index) {
  const auto address = [](const Tensor& tensor) {
    return tensor.defined() ? tensor.storage().address() : 0;
  };
  if (const Tensor* tensor = test_handle<Tensor>(L, index)) return address(*tensor);
  if (const nn::ModulePtr* module = test_handle<nn::ModulePtr>(L, index)) {
    const std::vector<Tensor> parameters =
        *module ? (*module)->parameters() : std::vector<Tensor>();
    return parameters.empty() ? 0 : address(parameters.front());
  }
  return 0;
}

/// Tables and functions of the script on the way to what the runtime knows: nearest first, and
/// those that are equally near in the order of their keys.
///
/// Note [Keys without an order]
/// Entries of a table whose keys are objects share one rank, and their names are the same. What
/// lies beneath them is put in order by ranks, keys and names alone, so that the path to a tensor
/// does not depend on which entry the table happens to have first.
class ValueWalk {
 public:
  ValueWalk(lua_State* L, Reachable& reachable) : state_(L), reachable_(reachable) {}

  /// Of the value on top of the stack, which stays there.
  void walk(std::size_t place) {
    const int top = lua_gettop(state_);
    std::vector<Found> level = {{0, std::nullopt, {}, place, 0, top}};
    for (int depth = 0; !level.empty(); ++depth) {
      const int above = lua_gettop(state_);
      std::vector<Found> next;
      for (const Found& found : level) look_at(found, depth < kRetentionMostLevels, next);
      level = ranked(std::move(next));
      // What has been looked at makes room; the root was not pushed here.
      for (Found& found : level) found.slot -= above - top;
      lua_rotate(state_, top + 1, -(above - top));
      lua_pop(state_, above - top);
    }
    lua_settop(state_, top);
  }

 private:
  static constexpr int kRetentionMostLevels = 12;

  /// A value that waits on the stack to be looked at.
  struct Found {
    std::size_t from_rank;        ///< of what holds it
    std::optional<TableKey> key;  ///< nullopt: without an order
    std::string name;
    std::size_t from_place;
    std::uint64_t address;
    int slot;
    std::size_t rank = 0;  ///< in its level; equal ones cannot be told apart

    auto order() const { return std::tuple(from_rank, !key, key.value_or(TableKey()), name); }
  };

  /// A table or a function at its place.
  struct Holder {
    std::size_t rank;
    std::size_t place;
    int slot;
  };

  static std::vector<Found> ranked(std::vector<Found> level) {
    std::stable_sort(level.begin(), level.end(), [](const Found& a, const Found& b) {
      const auto left = a.order();
      const auto right = b.order();
      if (left < right || right < left) return left < right;
      return a.address < b.address;
    });
    for (std::size_t i = 1; i < level.size(); ++i) {
      const bool is_same = !(level[i - 1].order() < level[i].order());
      level[i].rank = is_same ? level[i - 1].rank : i;
    }
    return level;
  }

  void look_at(const Found& found, bool goes_on, std::vector<Found>& next) {
    if (lua_checkstack(state_, LUA_MINSTACK) == 0) return;
    const std::size_t place =
        found.name.empty() ? found.from_place : reachable_.add_place(found.from_place, found.name);
    if (const Tensor* tensor = test_handle<Tensor>(state_, found.slot)) {
      reachable_.add(*tensor, place);
    } else if (const nn::ModulePtr* module = test_handle<nn::ModulePtr>(state_, found.slot)) {
      if (*module) reachable_.add(**module, place);
    } else if (const optim::OptimizerPtr* optimizer =
                   test_handle<optim::OptimizerPtr>(state_, found.slot)) {
      if (*optimizer) reachable_.add(**optimizer, place);
    } else if (goes_on && seen_.insert(lua_topointer(state_, found.slot)).second) {
      const Holder from{found.rank, place, found.slot};
      if (lua_istable(state_, found.slot)) add_entries(from, next);
      if (lua_isfunction(state_, found.slot)) add_upvalues(from, next);
    }
  }

  void add_entries(const Holder& table, std::vector<Found>& next) {
    for (lua_pushnil(state_); lua_next(state_, table.slot) != 0;) {
      // The value stays below the key, which is needed to go on.
      lua_insert(state_, -2);
      const std::optional<TableKey> key = table_key(state_, -1);
      add_below_top(table, key, name_of(key), next);
    }
  }

  void add_upvalues(const Holder& function, std::vector<Found>& next) {
    if (lua_iscfunction(state_, function.slot) != 0) return;
    for (int i = 1; const char* name = lua_getupvalue(state_, function.slot, i); ++i) {
      TableKey key;
      key.number = i;
      const bool is_globals = std::string_view(name) == "_ENV";
      lua_pushnil(state_);
      if (is_globals) {
        lua_remove(state_, -2);
      } else {
        add_below_top(function, key, fmt::format(" upvalue {}", name), next);
      }
      lua_pop(state_, 1);
    }
  }

  /// Keeps the value below the top of the stack, or removes it when it cannot hold anything.
  void add_below_top(const Holder& from, const std::optional<TableKey>& key, std::string name,
                     std::vector<Found>& next) {
    const int type = lua_type(state_, -2);
    const bool can_hold = type == LUA_TTABLE || type == LUA_TUSERDATA || type == LUA_TFUNCTION;
    if (!can_hold || lua_checkstack(state_, LUA_MINSTACK) == 0) return lua_remove(state_, -2);
    next.push_back({from.rank, key, std::move(name), from.place, address_of(state_, -2),
                    lua_gettop(state_) - 1});
  }

  static std::string name_of(const std::optional<TableKey>& key) {
    if (key && key->kind == TableKey::Kind::integer) return fmt::format("[{}]", key->integer);
    if (key && key->kind == TableKey::Kind::string) return fmt::format(".{}", key->text);
    return "[…]";
  }

  lua_State* state_;
  Reachable& reachable_;
  std::set<const void*> seen_;
};

class RootFinder {
 public:
  explicit RootFinder(Device device) : device_(device) {}

  void add_frames(lua_State* L) {
    std::vector<lua_Debug> frames;
    lua_Debug frame;
    for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) frames.push_back(frame);
    std::for_each(frames.rbegin(), frames.rend(), [&](lua_Debug& one) { add_frame(L, one); });
  }

  std::vector<Root> take() { return std::move(roots_); }

 private:
  void add_frame(lua_State* L, lua_Debug& frame) {
    if (lua_checkstack(L, LUA_MINSTACK) == 0) return;
    lua_getinfo(L, "Slnf", &frame);
    if (frame.currentline < 0) {
      lua_pop(L, 1);
      return;
    }
    const std::string function =
        frame.name != nullptr ? fmt::format("local of {}", frame.name)
        : std::string_view(frame.what) == "main"
            ? std::string("local of the file")
            : fmt::format("local of the function at line {}", frame.linedefined);
    for (int i = 1; const char* name = lua_getlocal(L, &frame, i); ++i) {
      // Names in brackets are Lua's own: temporaries and states of loops.
      if (name[0] != '(') add_root(L, name, function, frame.currentline);
      lua_pop(L, 1);
    }
    for (int i = -1; lua_getlocal(L, &frame, i) != nullptr; --i) {
      add_root(L, fmt::format("... [{}]", -i), function, frame.currentline);
      lua_pop(L, 1);
    }
    for (int i = 1; const char* name = lua_getupvalue(L, -1, i); ++i) {
      if (std::string_view(name) != "_ENV") add_root(L, name, "upvalue", frame.currentline);
      lua_pop(L, 1);
    }
    lua_pop(L, 1);
  }

  void add_root(lua_State* L, std::string variable, const std::string& function, int line) {
    Root root{variable, function, line, Reachable(variable, device_)};
    ValueWalk(L, root.reachable).walk(Reachable::kRoot);
    root.reachable.follow();
    if (!root.reachable.storages().empty()) roots_.push_back(std::move(root));
  }

  Device device_;
  std::vector<Root> roots_;
};

/// From how many variables each storage can be reached; the same value in two variables counts
/// twice.
std::map<const Storage*, int> reach_counts(const std::vector<Root>& roots) {
  std::map<const Storage*, int> counts;
  for (const Root& root : roots) {
    for (const ReachedStorage& reached : root.reachable.storages()) ++counts[reached.storage];
  }
  return counts;
}

/// Whose each storage is: of the first variable that holds it as a value, or else of the first one
/// whose graphs lead to it. A parameter belongs to its model, not to the losses that need it.
std::map<const Storage*, const Root*> owners_of(const std::vector<Root>& roots) {
  std::map<const Storage*, const Root*> owners;
  for (const bool direct : {true, false}) {
    for (const Root& root : roots) {
      for (const ReachedStorage& reached : root.reachable.storages()) {
        if (reached.is_direct == direct) owners.try_emplace(reached.storage, &root);
      }
    }
  }
  return owners;
}

RetainedResult retained_by(const Root& root, const std::map<const Storage*, int>& counts,
                           const std::map<const Storage*, const Root*>& owners,
                           const BlockSizes& blocks) {
  RetainedResult entry;
  entry.variable = root.variable;
  entry.function = root.function;
  entry.line = root.line;
  const ReachedStorage* largest = nullptr;
  for (const ReachedStorage& reached : root.reachable.storages()) {
    if (owners.at(reached.storage) != &root) continue;
    const auto block = blocks.find(reached.storage->address());
    if (block == blocks.end()) continue;
    const auto bytes = static_cast<std::int64_t>(block->second);
    entry.bytes += bytes;
    ++entry.blocks;
    if (counts.at(reached.storage) == 1) entry.own_bytes += bytes;
    if (largest == nullptr || reached.storage->bytes() > largest->storage->bytes()) {
      largest = &reached;
    }
  }
  if (largest != nullptr) entry.path = root.reachable.path_to(*largest);
  return entry;
}

}  // namespace

RetentionResult retention_of(Interpreter& interpreter, Device device, const BlockSizes& blocks) {
  RootFinder finder(device);
  finder.add_frames(interpreter.state());
  if (interpreter.running_state() != interpreter.state()) {
    finder.add_frames(interpreter.running_state());
  }
  const std::vector<Root> roots = finder.take();
  const std::map<const Storage*, int> counts = reach_counts(roots);
  const std::map<const Storage*, const Root*> owners = owners_of(roots);
  RetentionResult result;
  for (const Root& root : roots) {
    RetainedResult entry = retained_by(root, counts, owners, blocks);
    if (entry.blocks > 0) result.entries.push_back(std::move(entry));
  }
  std::stable_sort(
      result.entries.begin(), result.entries.end(),
      [](const RetainedResult& a, const RetainedResult& b) { return a.bytes > b.bytes; });
  return result;
}

}  // namespace ohm::lua
