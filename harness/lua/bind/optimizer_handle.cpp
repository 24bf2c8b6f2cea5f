#include "harness/lua/bind/optimizer_handle.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/tensor_handle.h"

namespace ohm::lua {
namespace {

using optim::Optimizer;
using optim::OptimizerPtr;

Optimizer& optimizer(lua_State* L, std::string_view method) {
  return object_argument<Optimizer>(L, 1, {method, "self"});
}

int optimizer_step(lua_State* L) {
  optimizer(L, "step").step();
  return 0;
}

int optimizer_zero_grad(lua_State* L) {
  const NamedArguments named(L, "zero_grad");
  constexpr std::string_view kNames[] = {"set_to_none"};
  named.check_names(kNames);
  optimizer(L, "zero_grad").zero_grad(named.boolean("set_to_none", true));
  return 0;
}

// {name = tensor, …} of one parameter.
void push_state(lua_State* L, const optim::ParameterState& state,
                const std::vector<std::string_view>& names) {
  lua_newtable(L);
  for (std::size_t slot = 0; slot < names.size(); ++slot) {
    push_tensor(L, state.tensors[slot]);
    lua_setfield(L, -2, std::string(names[slot]).c_str());
  }
}

// {state = {[1] = {exp_avg = …}, …}, lr = …}: the tensors themselves, by the number of their
// parameter; the learning rate of the first group.
int optimizer_state_dict(lua_State* L) {
  const Optimizer& self = optimizer(L, "state_dict");
  lua_newtable(L);
  lua_newtable(L);
  lua_Integer number = 0;
  for (const Tensor& parameter : self.parameters()) {
    ++number;
    const optim::ParameterState* state = self.find_state(parameter);
    if (state == nullptr) continue;
    push_state(L, *state, self.state_names());
    lua_rawseti(L, -2, number);
  }
  lua_setfield(L, -2, "state");
  lua_pushnumber(L, self.learning_rate());
  lua_setfield(L, -2, "lr");
  return 1;
}

constexpr luaL_Reg kOptimizerMethods[] = {
    {"state_dict", native<optimizer_state_dict>},
    {"step", native<optimizer_step>},
    {"zero_grad", native<optimizer_zero_grad>},
};

// {group, …}: the first is the optimizer itself.
int push_groups(lua_State* L) {
  const Optimizer& self = optimizer(L, "param_groups");
  lua_createtable(L, static_cast<int>(self.further_groups().size()) + 1, 0);
  lua_pushvalue(L, 1);
  lua_rawseti(L, -2, 1);
  lua_Integer number = 1;
  for (const OptimizerPtr& group : self.further_groups()) {
    push_handle<OptimizerPtr>(L, group);
    lua_rawseti(L, -2, ++number);
  }
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
