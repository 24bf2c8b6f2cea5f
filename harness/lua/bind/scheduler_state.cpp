#include "harness/lua/bind/scheduler_state.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/vm/push_text.h"

namespace ohm::lua {
namespace {

using optim::SchedulerState;
using optim::SchedulerValue;

constexpr std::string_view kLoadStateName = "load_state_dict";
constexpr const char* kParts = "_schedulers";

void push(lua_State* L, bool value) { lua_pushboolean(L, value); }
void push(lua_State* L, std::int64_t value) { lua_pushinteger(L, value); }
void push(lua_State* L, double value) { lua_pushnumber(L, value); }
void push(lua_State* L, const std::string& value) { push_text(L, value); }
void push(lua_State* L, const std::vector<double>& numbers) {
  lua_createtable(L, static_cast<int>(numbers.size()), 0);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    lua_pushnumber(L, numbers[i]);
    lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
  }
}

// Of the value on top of the stack.
SchedulerValue value_on_top(lua_State* L, const ArgumentName& name) {
  switch (lua_type(L, -1)) {
    case LUA_TBOOLEAN:
      return lua_toboolean(L, -1) != 0;
    case LUA_TNUMBER:
      if (lua_isinteger(L, -1) != 0) return static_cast<std::int64_t>(lua_tointeger(L, -1));
      return lua_tonumber(L, -1);
    case LUA_TSTRING:
      return std::string(string_argument(L, -1, name));
    case LUA_TTABLE:
      return std::get<std::vector<double>>(
          value_argument(L, -1, ops::ParamKind::number_list, name));
    default:
      refuse_argument(L, -1, name, "a number, a word, a list of numbers or a boolean");
  }
}

// States hold states: one that holds itself has no end.
constexpr int kDeepest = 16;

SchedulerState state_at(lua_State* L, int index, const ArgumentName& name, int depth) {
  luaL_checkstack(L, LUA_MINSTACK, nullptr);
  if (lua_type(L, index) != LUA_TTABLE || depth == kDeepest) {
    refuse_argument(L, index, name, "a table that state_dict() returned");
  }
  const int table = lua_absindex(L, index);
  SchedulerState state;
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) refuse_argument(L, table, name, "a table of names");
    const std::string field = lua_tostring(L, -2);
    if (field != kParts) state.values.push_back({field, value_on_top(L, {kLoadStateName, field})});
  }
  // In an order of their own, whatever the table's is.
  std::sort(state.values.begin(), state.values.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  const ArgumentName parts{kLoadStateName, kParts};
  if (lua_getfield(L, table, kParts) != LUA_TNIL) {
    if (lua_type(L, -1) != LUA_TTABLE) refuse_argument(L, -1, parts, "a list of states");
    const lua_Integer count = list_length(L, -1, parts);
    for (lua_Integer i = 1; i <= count; ++i) {
      lua_rawgeti(L, -1, i);
      state.schedulers.push_back(state_at(L, -1, parts, depth + 1));
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
  return state;
}

}  // namespace

int push_scheduler_state(lua_State* L, const SchedulerState& state) {
  luaL_checkstack(L, LUA_MINSTACK, nullptr);
  lua_createtable(L, 0, static_cast<int>(state.values.size()) + 1);
  for (const optim::NamedSchedulerValue& named : state.values) {
    std::visit([&](const auto& value) { push(L, value); }, named.value);
    lua_setfield(L, -2, named.name.c_str());
  }
  if (state.schedulers.empty()) return 1;
  lua_createtable(L, static_cast<int>(state.schedulers.size()), 0);
  lua_Integer number = 0;
  for (const SchedulerState& part : state.schedulers) {
    push_scheduler_state(L, part);
    lua_rawseti(L, -2, ++number);
  }
  lua_setfield(L, -2, kParts);
  return 1;
}

SchedulerState scheduler_state_argument(lua_State* L, int index) {
  return state_at(L, index, {kLoadStateName, "state_dict"}, 0);
}

}  // namespace ohm::lua
