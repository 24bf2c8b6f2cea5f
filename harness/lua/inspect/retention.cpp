#include "harness/lua/inspect/retention.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/optimizer_handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/inspect/reachable.h"
#include "harness/lua/vm/interpreter.h"

namespace ohm::lua {

namespace {

using engine::BlockSizes;

struct Root {
  std::string variable;
  std::string function;
  int line = 0;
  Reachable reachable;
};

/// Tables and functions of the script on the way to what the runtime knows.
class ValueWalk {
 public:
  ValueWalk(lua_State* L, Reachable& reachable) : state_(L), reachable_(reachable) {}

  /// Of the value on top of the stack, which stays there.
  void walk(std::size_t place, int depth = 0) {
    if (const Tensor* tensor = test_handle<Tensor>(state_, -1)) {
      return reachable_.add(*tensor, place);
    }
    if (const nn::ModulePtr* module = test_handle<nn::ModulePtr>(state_, -1)) {
      if (*module) reachable_.add(**module, place);
      return;
    }
    if (const optim::OptimizerPtr* optimizer = test_handle<optim::OptimizerPtr>(state_, -1)) {
      if (*optimizer) reachable_.add(**optimizer, place);
      return;
    }
    if (depth == kRetentionMostLevels || lua_checkstack(state_, LUA_MINSTACK) == 0) return;
    if (lua_istable(state_, -1)) return walk_table(place, depth);
    if (lua_isfunction(state_, -1) && !lua_iscfunction(state_, -1)) walk_upvalues(place, depth);
  }

 private:
  static constexpr int kRetentionMostLevels = 12;

  bool is_new() { return seen_.insert(lua_topointer(state_, -1)).second; }

  void walk_table(std::size_t place, int depth) {
    if (!is_new()) return;
    for (lua_pushnil(state_); lua_next(state_, -2) != 0; lua_pop(state_, 1)) {
      if (!can_hold()) continue;
      walk(reachable_.add_place(place, key_name()), depth + 1);
    }
  }

  void walk_upvalues(std::size_t place, int depth) {
    if (!is_new()) return;
    for (int i = 1; const char* name = lua_getupvalue(state_, -1, i); ++i) {
      const bool is_globals = std::string_view(name) == "_ENV";
      if (!is_globals && can_hold()) {
        walk(reachable_.add_place(place, fmt::format(" upvalue {}", name)), depth + 1);
      }
      lua_pop(state_, 1);
    }
  }

  bool can_hold() const {
    const int type = lua_type(state_, -1);
    return type == LUA_TTABLE || type == LUA_TUSERDATA || type == LUA_TFUNCTION;
  }

  // The key is below the value.
  std::string key_name() const {
    if (lua_isinteger(state_, -2) != 0) return fmt::format("[{}]", lua_tointeger(state_, -2));
    if (lua_type(state_, -2) == LUA_TSTRING) return fmt::format(".{}", lua_tostring(state_, -2));
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
