#include "harness/lua/libraries/memory_history_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/vm/interpreter.h"
#include "harness/machine/machine.h"
#include "harness/scenario/scenario_program.h"

namespace ohm::lua {
namespace {

engine::RunContext& running_variant(lua_State* L, std::string_view function) {
  engine::RunContext* const run = Interpreter::of(L).run;
  if (run == nullptr) {
    throw std::invalid_argument(
        fmt::format("[{}] there are no GPUs yet: call it in a variant's function", function));
  }
  return *run;
}

// dump_snapshot([path])
int dump_snapshot(lua_State* L) {
  constexpr std::string_view kMemoryHistoryName = "dump_snapshot";
  std::string path = "dump_snapshot.pickle";
  if (!lua_isnoneornil(L, 1)) path = string_argument(L, 1, {kMemoryHistoryName, "path"});
  engine::RunContext& run = running_variant(L, kMemoryHistoryName);
  try {
    run.dump_snapshot(path);
  } catch (const std::invalid_argument& refused) {
    throw std::invalid_argument(fmt::format("[{}] {}", kMemoryHistoryName, refused.what()));
  } catch (const std::runtime_error& failed) {
    throw std::invalid_argument(fmt::format("[{}] {}", kMemoryHistoryName, failed.what()));
  }
  return 0;
}

/// Whether a history is wanted, and how many entries `enabled` leaves it at most.
struct Enabled {
  bool is_on;
  std::size_t max_entries;
};

Enabled enabled_argument(lua_State* L, int index, std::string_view function) {
  constexpr Enabled kAll = {true, std::numeric_limits<std::size_t>::max()};
  if (lua_isnil(L, index)) return {false, 0};
  if (lua_isboolean(L, index)) return lua_toboolean(L, index) != 0 ? kAll : Enabled{false, 0};
  const bool is_text = lua_type(L, index) == LUA_TSTRING;
  const std::string_view text = is_text ? lua_tostring(L, index) : "";
  if (text == "all") return kAll;
  if (text == "state") return {true, 1};
  refuse_argument(L, index, {function, "enabled"}, "\"all\", \"state\", a boolean or nil");
}

// record_memory_history([enabled [, {max_entries = n}]]): everything is recorded anyway; this says
// what snapshots show of it.
int record_memory_history(lua_State* L) {
  constexpr std::string_view kMemoryHistoryName = "record_memory_history";
  constexpr std::string_view kNames[] = {"enabled", "max_entries"};
  const NamedArguments named(L, kMemoryHistoryName);
  named.check_names(kNames);
  Enabled enabled = {true, std::numeric_limits<std::size_t>::max()};
  if (named.positional_count() > 0) {
    enabled = enabled_argument(L, 1, kMemoryHistoryName);
  } else if (named.push("enabled")) {
    enabled = enabled_argument(L, -1, kMemoryHistoryName);
  }
  if (named.push("max_entries")) {
    const std::int64_t entries = integer_argument(L, -1, {kMemoryHistoryName, "max_entries"});
    if (entries < 1) refuse_argument(L, -1, {kMemoryHistoryName, "max_entries"}, "at least 1");
    enabled.max_entries = std::min(enabled.max_entries, static_cast<std::size_t>(entries));
  }
  engine::Machine& machine = running_variant(L, kMemoryHistoryName).machine();
  if (enabled.is_on) {
    machine.restart_history(enabled.max_entries);
  } else {
    machine.stop_history();
  }
  return 0;
}

constexpr luaL_Reg kMemoryHistoryFunctions[] = {
    {"_dump_snapshot", native<dump_snapshot>},
    {"_record_memory_history", native<record_memory_history>},
    {"dump_snapshot", native<dump_snapshot>},
    {"record_memory_history", native<record_memory_history>},
};

}  // namespace

std::span<const luaL_Reg> memory_history_functions() { return kMemoryHistoryFunctions; }

}  // namespace ohm::lua
