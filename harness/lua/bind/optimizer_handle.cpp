#include "harness/lua/bind/optimizer_handle.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/parameter_group.h"
#include "harness/lua/bind/script_function.h"
#include "harness/lua/bind/tensor_handle.h"

namespace ohm::lua {
namespace {

using optim::Optimizer;
using optim::OptimizerPtr;

Optimizer& optimizer(lua_State* L, std::string_view method) {
  return object_argument<Optimizer>(L, 1, {method, "self"});
}

// step([closure]): the first loss that the closure returned.
int optimizer_step(lua_State* L) {
  Optimizer& self = optimizer(L, "step");
  if (lua_isnoneornil(L, 2)) {
    self.step();
    return 0;
  }
  ScriptFunction function(L, 2, "step");
  function.bind_arguments(L, 1, 0);
  const Tensor loss = self.step([&function] {
    const std::vector<Tensor> results = function({});
    return results.size() == 1 ? results.front() : Tensor();
  });
  push_tensor(L, loss);
  return 1;
}

int optimizer_zero_grad(lua_State* L) {
  const NamedArguments named(L, "zero_grad");
  constexpr std::string_view kNames[] = {"set_to_none"};
  named.check_names(kNames);
  optimizer(L, "zero_grad").zero_grad(named.boolean("set_to_none", true));
  return 0;
}

// {name = tensor, name = {tensor, …}, name = number, …} of one parameter.
void push_state(lua_State* L, const optim::ParameterState& state, const Optimizer& self) {
  lua_newtable(L);
  const auto set = [L](std::string_view name) { lua_setfield(L, -2, std::string(name).c_str()); };
  const std::vector<std::string_view> numbers = self.number_names();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!state.numbers[i]) continue;
    lua_pushnumber(L, *state.numbers[i]);
    set(numbers[i]);
  }
  const std::vector<std::string_view> names = self.state_names();
  for (std::size_t slot = 0; slot < names.size(); ++slot) {
    if (!state.tensors[slot].defined()) continue;
    push_tensor(L, state.tensors[slot]);
    set(names[slot]);
  }
  const std::vector<std::string_view> lists = self.list_names();
  for (std::size_t i = 0; i < lists.size(); ++i) {
    lua_newtable(L);
    lua_Integer place = 0;
    for (const Tensor& tensor : state.lists[i]) {
      push_tensor(L, tensor);
      lua_rawseti(L, -2, ++place);
    }
    set(lists[i]);
  }
}

// {lr = …}, … of the groups.
void push_group_options(lua_State* L, const Optimizer& self) {
  lua_createtable(L, static_cast<int>(self.further_groups().size()) + 1, 0);
  lua_Integer number = 0;
  const auto push = [&](const Optimizer& group) {
    lua_newtable(L);
    lua_pushnumber(L, group.learning_rate());
    lua_setfield(L, -2, "lr");
    lua_rawseti(L, -2, ++number);
  };
  push(self);
  for (const OptimizerPtr& group : self.further_groups()) push(*group);
}

// {state = {[1] = {exp_avg = …}, …}, steps = {[1] = 3, …}, param_groups = {{lr = …}, …}, lr = …}:
// the tensors themselves, by the number of their parameter; the learning rate of the first group.
int optimizer_state_dict(lua_State* L) {
  const Optimizer& self = optimizer(L, "state_dict");
  lua_newtable(L);
  lua_newtable(L);
  lua_newtable(L);
  lua_Integer number = 0;
  for (const Tensor& parameter : self.parameters()) {
    ++number;
    const optim::ParameterState* state = self.find_state(parameter);
    if (state == nullptr) continue;
    lua_pushinteger(L, state->steps);
    lua_rawseti(L, -2, number);
    push_state(L, *state, self);
    lua_rawseti(L, -3, number);
  }
  lua_setfield(L, -3, "steps");
  lua_setfield(L, -2, "state");
  push_group_options(L, self);
  lua_setfield(L, -2, "param_groups");
  lua_pushnumber(L, self.learning_rate());
  lua_setfield(L, -2, "lr");
  return 1;
}

constexpr std::string_view kLoadName = "load_state_dict";

// Pushes the field of the table at `table`, which is a table, too; an empty one where it is nil.
int push_table_of(lua_State* L, int table, const char* name) {
  const int type = lua_getfield(L, table, name);
  if (type == LUA_TNIL) {
    lua_pop(L, 1);
    lua_newtable(L);
  } else if (type != LUA_TTABLE) {
    refuse_argument(L, -1, {kLoadName, name}, "a table");
  }
  return lua_gettop(L);
}

// Pushes the entry of the table on top of the stack.
int push_entry(lua_State* L, std::string_view name) {
  return lua_getfield(L, -1, std::string(name).c_str());
}

void read_list(lua_State* L, std::string_view name, std::vector<Tensor>& list) {
  const int type = push_entry(L, name);
  if (type != LUA_TNIL) {
    if (type != LUA_TTABLE) refuse_argument(L, -1, {kLoadName, name}, "a list of tensors");
    const lua_Integer count = list_length(L, lua_gettop(L), {kLoadName, name});
    for (lua_Integer i = 1; i <= count; ++i) {
      lua_rawgeti(L, -1, i);
      list.push_back(tensor_argument(L, -1, {kLoadName, name}));
      lua_pop(L, 1);
    }
  }
  lua_pop(L, 1);
}

// The state of one parameter, from the table on top of the stack.
void read_state(lua_State* L, const Optimizer& self, optim::ParameterState& state) {
  if (lua_type(L, -1) != LUA_TTABLE) refuse_argument(L, -1, {kLoadName, "state"}, "a table");
  for (const std::string_view name : self.number_names()) {
    const bool is_number = push_entry(L, name) == LUA_TNUMBER;
    state.numbers.push_back(is_number ? std::optional(lua_tonumber(L, -1)) : std::nullopt);
    lua_pop(L, 1);
  }
  const std::vector<std::string_view> numbers = self.number_names();
  for (const std::string_view name : self.state_names()) {
    const int type = push_entry(L, name);
    const bool is_number =
        type == LUA_TNUMBER && std::find(numbers.begin(), numbers.end(), name) != numbers.end();
    const bool is_missing = type == LUA_TNIL || is_number;
    state.tensors.push_back(is_missing ? Tensor() : tensor_argument(L, -1, {kLoadName, name}));
    lua_pop(L, 1);
  }
  for (const std::string_view name : self.list_names()) {
    read_list(L, name, state.lists.emplace_back());
  }
}

void load_learning_rates(lua_State* L, int groups, Optimizer& self) {
  const auto count = static_cast<std::size_t>(lua_rawlen(L, groups));
  if (count != 0 && count != self.further_groups().size() + 1) {
    throw std::invalid_argument(
        "[load_state_dict] loaded state dict has a different number of parameter groups");
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (lua_rawgeti(L, groups, static_cast<lua_Integer>(i) + 1) != LUA_TTABLE) {
      refuse_argument(L, -1, {kLoadName, "param_groups"}, "a list of tables");
    }
    lua_getfield(L, -1, "lr");
    Optimizer& group = i == 0 ? self : *self.further_groups()[i - 1];
    group.set_learning_rate(number_argument(L, -1, {kLoadName, "lr"}));
    lua_pop(L, 2);
  }
}

// load_state_dict(state): its tensors become the optimizer's, those of another dtype or device than
// the parameter's are copied.
int optimizer_load_state_dict(lua_State* L) {
  Optimizer& self = optimizer(L, kLoadName);
  if (lua_type(L, 2) != LUA_TTABLE) refuse_argument(L, 2, {kLoadName, "state_dict"}, "a table");
  lua_settop(L, 2);
  const int state = push_table_of(L, 2, "state");
  const int steps = push_table_of(L, 2, "steps");
  const int groups = push_table_of(L, 2, "param_groups");
  std::vector<optim::ParameterState> states;
  lua_Integer number = 0;
  for (const Tensor& parameter : self.parameters()) {
    if (lua_rawgeti(L, state, ++number) != LUA_TNIL) {
      optim::ParameterState loaded{parameter, 0, {}};
      read_state(L, self, loaded);
      const bool has_steps = lua_rawgeti(L, steps, number) != LUA_TNIL;
      if (has_steps) loaded.steps = integer_argument(L, -1, {kLoadName, "steps"});
      lua_pop(L, 1);
      states.push_back(self.converted_state(std::move(loaded)));
    }
    lua_pop(L, 1);
  }
  if (lua_rawgeti(L, state, number + 1) != LUA_TNIL) {
    throw std::invalid_argument(
        "[load_state_dict] loaded state dict contains a parameter group that doesn't match the "
        "size of optimizer's group");
  }
  load_learning_rates(L, groups, self);
  self.load_state(std::move(states));
  return 0;
}

int add_group(lua_State* L) { return add_param_group(L, optimizer(L, "add_param_group")); }

constexpr luaL_Reg kOptimizerMethods[] = {
    {"add_param_group", native<add_group>},
    {"load_state_dict", native<optimizer_load_state_dict>},
    {"state_dict", native<optimizer_state_dict>},
    {"step", native<optimizer_step>},
    {"zero_grad", native<optimizer_zero_grad>},
};

// ---- the list of groups -------------------------------------------------------------------------
//
// The table has its first group, which is the optimizer itself, and the others when they are asked
// for: a script may ask the optimizer for the list as often as there are groups.

const Optimizer& optimizer_of_groups(lua_State* L) {
  lua_rawgeti(L, 1, 1);
  const OptimizerPtr* const first = test_handle<OptimizerPtr>(L, -1);
  lua_pop(L, 1);
  if (first == nullptr) throw std::invalid_argument("[param_groups] the first group was taken out");
  return **first;
}

int index_groups(lua_State* L) {
  const std::vector<OptimizerPtr>& further = optimizer_of_groups(L).further_groups();
  const lua_Integer number = lua_isinteger(L, 2) != 0 ? lua_tointeger(L, 2) - 2 : -1;
  if (number < 0 || number >= static_cast<lua_Integer>(further.size())) return 0;
  push_handle<OptimizerPtr>(L, further[static_cast<std::size_t>(number)]);
  return 1;
}

int count_groups(lua_State* L) {
  const std::size_t further = optimizer_of_groups(L).further_groups().size();
  lua_pushinteger(L, static_cast<lua_Integer>(further) + 1);
  return 1;
}

int next_group(lua_State* L) {
  const lua_Integer number = lua_tointeger(L, 2) + 1;
  lua_pushinteger(L, number);
  return lua_geti(L, 1, number) == LUA_TNIL ? 1 : 2;
}

int pairs_of_groups(lua_State* L) {
  constexpr lua_CFunction kNext = native<next_group, Entry::access>;
  lua_pushcfunction(L, kNext);
  lua_pushvalue(L, 1);
  lua_pushinteger(L, 0);
  return 3;
}

int push_groups(lua_State* L) {
  optimizer(L, "param_groups");
  lua_createtable(L, 1, 0);
  lua_pushvalue(L, 1);
  lua_rawseti(L, -2, 1);
  if (luaL_newmetatable(L, "ohm.param_groups") != 0) {
    constexpr luaL_Reg kFunctions[] = {{"__index", native<index_groups, Entry::access>},
                                       {"__len", native<count_groups, Entry::access>},
                                       {"__pairs", native<pairs_of_groups, Entry::access>},
                                       {nullptr, nullptr}};
    luaL_setfuncs(L, kFunctions, 0);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
  }
  lua_setmetatable(L, -2);
  return 1;
}

// The parameters of one group.
int push_parameters(lua_State* L) {
  const std::vector<Tensor>& parameters = optimizer(L, "params").group_parameters();
  lua_createtable(L, static_cast<int>(parameters.size()), 0);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    push_tensor(L, parameters[i]);
    lua_rawseti(L, -2, static_cast<lua_Integer>(i) + 1);
  }
  return 1;
}

int index_optimizer(lua_State* L) {
  const std::string_view name = string_argument(L, 2, {"optimizer", "name"});
  if (name == "lr") {
    lua_pushnumber(L, optimizer(L, "lr").learning_rate());
    return 1;
  }
  if (name == "param_groups") return push_groups(L);
  if (name == "params") return push_parameters(L);
  return push_method(L, kOptimizerMethods, "optimizer", {"lr", "param_groups", "params"});
}

// optimizer.state = {}: as Python's `optimizer.state = defaultdict(dict)`.
int clear_optimizer_state(lua_State* L) {
  if (lua_type(L, 3) != LUA_TTABLE) refuse_argument(L, 3, {"optimizer", "state"}, "an empty table");
  lua_pushnil(L);
  if (lua_next(L, 3) != 0) {
    throw std::invalid_argument("[optimizer] only an empty table can be its state: all is let go");
  }
  optimizer(L, "state").clear_state();
  return 0;
}

int set_optimizer_field(lua_State* L) {
  const std::string_view name = string_argument(L, 2, {"optimizer", "name"});
  if (name == "state") return clear_optimizer_state(L);
  if (name != "lr") {
    throw std::invalid_argument(
        fmt::format("[optimizer] '{}' cannot be set{}", name, did_you_mean(name, {"lr", "state"})));
  }
  optimizer(L, "lr").set_learning_rate(number_argument(L, 3, {"optimizer", "lr"}));
  return 0;
}

constexpr luaL_Reg kOptimizerMetamethods[] = {
    {"__index", native<index_optimizer, Entry::access>},
    {"__newindex", native<set_optimizer_field, Entry::access>},
};

}  // namespace

const HandleClass HandleOf<OptimizerPtr>::kClass = {"optimizer", kOptimizerMetamethods};

std::span<const luaL_Reg> optimizer_methods() { return kOptimizerMethods; }

}  // namespace ohm::lua
