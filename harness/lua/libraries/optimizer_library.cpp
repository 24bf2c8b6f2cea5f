#include "harness/lua/libraries/optimizer_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "allocator_shim/base/assert.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/numbered_functions.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/optimizer_handle.h"
#include "runtime/optim/registry.h"

namespace ohm::lua {
namespace {

using optim::OptimizerPtr;

// (params, …): of one group, which may be without parameters.
int make_group(lua_State* L, std::size_t number) {
  const optim::OptimizerDef& row = optim::all_optimizers()[number];
  std::vector<ops::Value> values = read_parameters(L, row.name, row.params);
  OptimizerPtr group = row.make(values);
  values[0] = ops::Value();
  group->set_origin({&row, std::move(values)});
  push_handle<OptimizerPtr>(L, std::move(group));
  return 1;
}

constexpr auto kGroupConstructors = numbered_functions<make_group, 64>();

// The first argument is a list of parameter groups: {params = …, lr = …}.
bool is_list_of_groups(lua_State* L) {
  if (lua_type(L, 1) != LUA_TTABLE) return false;
  lua_rawgeti(L, 1, 1);
  const bool is_group = lua_type(L, -1) == LUA_TTABLE;
  lua_pop(L, 1);
  return is_group;
}

void copy_fields(lua_State* L, int from, int to) {
  for (lua_pushnil(L); lua_next(L, from) != 0;) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, to);
  }
}

// Pushes the options of the group at `group`: its own, and those of the call where it has none.
void push_group_options(lua_State* L, const optim::OptimizerDef& row, int arguments, int group) {
  lua_newtable(L);
  const int options = lua_gettop(L);
  const bool has_table = arguments > 1 && is_named_table(L, arguments);
  const int positional = has_table ? arguments - 1 : arguments;
  for (int index = 2; index <= positional; ++index) {
    if (index > static_cast<int>(row.params.size())) {
      throw std::invalid_argument(fmt::format("[{}] takes at most {} arguments, got {}", row.name,
                                              row.params.size(), positional));
    }
    lua_pushvalue(L, index);
    const std::string name(row.params[static_cast<std::size_t>(index) - 1].name);
    lua_setfield(L, options, name.c_str());
  }
  if (has_table) copy_fields(L, arguments, options);
  copy_fields(L, group, options);
  lua_pushnil(L);
  lua_setfield(L, options, "params");
}

// How an optimizer is made with the options of the call alone, those of groups that come later.
optim::OptimizerOrigin origin_of_call(lua_State* L, std::size_t number, int arguments) {
  const optim::OptimizerDef& row = optim::all_optimizers()[number];
  lua_pushcfunction(L, kGroupConstructors[number]);
  lua_newtable(L);
  lua_newtable(L);
  push_group_options(L, row, arguments, lua_gettop(L));
  lua_remove(L, -2);
  const bool has_options = is_named_table(L, -1);
  if (!has_options) lua_pop(L, 1);
  lua_call(L, has_options ? 2 : 1, 1);
  optim::OptimizerOrigin origin = (*test_handle<OptimizerPtr>(L, -1))->origin();
  lua_settop(L, arguments);
  return origin;
}

// One optimizer for each group; the first has the others as its further groups.
int make_grouped_optimizer(lua_State* L, std::size_t number) {
  const optim::OptimizerDef& row = optim::all_optimizers()[number];
  const int arguments = lua_gettop(L);
  OptimizerPtr whole;
  const lua_Integer count = list_length(L, 1, {row.name, "params"});
  for (lua_Integer i = 1; i <= count; ++i) {
    const std::string name = fmt::format("params[{}]", i);
    lua_rawgeti(L, 1, i);
    const int group = lua_gettop(L);
    if (lua_type(L, group) != LUA_TTABLE) refuse_argument(L, group, {row.name, name}, "a group");
    lua_pushcfunction(L, kGroupConstructors[number]);
    if (lua_getfield(L, group, "params") == LUA_TUSERDATA) {
      lua_createtable(L, 1, 0);
      lua_insert(L, -2);
      lua_rawseti(L, -2, 1);
    } else if (lua_type(L, -1) != LUA_TTABLE) {
      refuse_argument(L, -1, {row.name, name + ".params"}, "a list of parameters");
    }
    if (lua_rawgeti(L, -1, 1) == LUA_TTABLE) {
      refuse_argument(L, -1, {row.name, name + ".params"}, "a list of parameters");
    }
    lua_pop(L, 1);
    push_group_options(L, row, arguments, group);
    const bool has_options = is_named_table(L, -1);
    if (!has_options) lua_pop(L, 1);
    lua_call(L, has_options ? 2 : 1, 1);
    const OptimizerPtr made = *test_handle<OptimizerPtr>(L, -1);
    if (whole) {
      whole->add_group(made);
    } else {
      whole = made;
    }
    lua_settop(L, arguments);
  }
  whole->set_origin(origin_of_call(L, number, arguments));
  push_handle<OptimizerPtr>(L, std::move(whole));
  return 1;
}

int make_registered_optimizer(lua_State* L, std::size_t number) {
  if (is_list_of_groups(L)) return make_grouped_optimizer(L, number);
  const ArgumentName name{optim::all_optimizers()[number].name, "params"};
  if (lua_type(L, 1) == LUA_TTABLE && list_length(L, 1, name) == 0) {
    throw std::invalid_argument("[optimizer] got an empty parameter list");
  }
  return make_group(L, number);
}

constexpr auto kOptimizerConstructors = numbered_functions<make_registered_optimizer, 64>();

}  // namespace

bool push_optimizer_constructor(lua_State* L, std::string_view name) {
  const auto& rows = optim::all_optimizers();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const optim::OptimizerDef& known) {
    return known.name == name;
  });
  if (row == rows.end()) return false;
  OHM_ASSERT(rows.size() <= kOptimizerConstructors.size(),
             "more optimizers than numbered functions");
  lua_pushcfunction(L, kOptimizerConstructors[static_cast<std::size_t>(row - rows.begin())]);
  return true;
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const optim::OptimizerDef& row : optim::all_optimizers()) names.emplace_back(row.name);
  return names;
}

}  // namespace ohm::lua
