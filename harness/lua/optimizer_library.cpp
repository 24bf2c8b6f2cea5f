#include "harness/lua/optimizer_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/arguments.h"
#include "harness/lua/handle.h"
#include "harness/lua/native.h"
#include "harness/lua/numbered_functions.h"
#include "harness/lua/object_handle.h"
#include "harness/lua/optimizer_handle.h"
#include "harness/lua/parameters.h"
#include "harness/lua/tensor_handle.h"
#include "runtime/amp/grad_scaler.h"
#include "runtime/optim/registry.h"

namespace ohm::lua {

using amp::GradScaler;
using optim::Optimizer;
using optim::OptimizerPtr;
using ScalerPtr = std::shared_ptr<GradScaler>;

template <>
struct HandleOf<ScalerPtr> {
  static const HandleClass kClass;
};

namespace {

// ---- optimizers ---------------------------------------------------------------------------------

Optimizer& optimizer(lua_State* L, std::string_view method) {
  return object_argument<Optimizer>(L, 1, {method, "self"});
}

int step(lua_State* L) {
  optimizer(L, "step").step();
  return 0;
}

int zero_grad(lua_State* L) {
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
// parameter.
int state_dict(lua_State* L) {
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
    {"state_dict", native<state_dict>},
    {"step", native<step>},
    {"zero_grad", native<zero_grad>},
};

int index_optimizer(lua_State* L) {
  if (string_argument(L, 2, {"optimizer", "name"}) == "lr") {
    lua_pushnumber(L, optimizer(L, "lr").learning_rate());
    return 1;
  }
  return push_method(L, kOptimizerMethods, "optimizer", {"lr"});
}

int set_optimizer_field(lua_State* L) {
  const std::string_view name = string_argument(L, 2, {"optimizer", "name"});
  if (name != "lr") {
    throw std::invalid_argument(
        fmt::format("[optimizer] '{}' cannot be set{}", name, did_you_mean(name, {"lr"})));
  }
  optimizer(L, "lr").set_learning_rate(number_argument(L, 3, {"optimizer", "lr"}));
  return 0;
}

constexpr luaL_Reg kOptimizerMetamethods[] = {
    {"__index", native<index_optimizer, Entry::access>},
    {"__newindex", native<set_optimizer_field, Entry::access>},
};

int make_registered(lua_State* L, std::size_t number) {
  const optim::OptimizerDef& row = optim::all_optimizers()[number];
  push_handle<OptimizerPtr>(L, row.make(read_parameters(L, row.name, row.params)));
  return 1;
}

constexpr auto kConstructors = numbered_functions<make_registered, 64>();

// ---- the gradient scaler ------------------------------------------------------------------------

GradScaler& scaler(lua_State* L, std::string_view method) {
  return object_argument<GradScaler>(L, 1, {method, "self"});
}

int scale(lua_State* L) {
  push_tensor(L, scaler(L, "scale").scale(tensor_argument(L, 2, {"scale", "outputs"})));
  return 1;
}

int unscale(lua_State* L) {
  scaler(L, "unscale_").unscale(object_argument<Optimizer>(L, 2, {"unscale_", "optimizer"}));
  return 0;
}

// Whether the step was taken.
int scaled_step(lua_State* L) {
  lua_pushboolean(L,
                  scaler(L, "step").step(object_argument<Optimizer>(L, 2, {"step", "optimizer"})));
  return 1;
}

int update(lua_State* L) {
  scaler(L, "update").update();
  return 0;
}

int get_scale(lua_State* L) {
  lua_pushnumber(L, scaler(L, "get_scale").get_scale());
  return 1;
}

int is_enabled(lua_State* L) {
  lua_pushboolean(L, scaler(L, "is_enabled").is_enabled());
  return 1;
}

constexpr luaL_Reg kScalerMethods[] = {
    {"get_scale", native<get_scale>}, {"is_enabled", native<is_enabled>},
    {"scale", native<scale>},         {"step", native<scaled_step>},
    {"unscale_", native<unscale>},    {"update", native<update>},
};

int index_scaler(lua_State* L) {
  if (string_argument(L, 2, {"GradScaler", "name"}) == "skipped_steps") {
    lua_pushinteger(L, scaler(L, "skipped_steps").skipped_steps());
    return 1;
  }
  return push_method(L, kScalerMethods, "GradScaler", {"skipped_steps"});
}

constexpr luaL_Reg kScalerMetamethods[] = {{"__index", native<index_scaler, Entry::access>}};

// GradScaler([device_type,] {init_scale, growth_factor, backoff_factor, growth_interval, enabled})
int make_scaler(lua_State* L) {
  const NamedArguments named(L, "GradScaler");
  constexpr std::string_view kNames[] = {"init_scale", "growth_factor", "backoff_factor",
                                         "growth_interval", "enabled"};
  named.check_names(kNames);
  amp::GradScalerOptions options;
  options.init_scale = named.number("init_scale", options.init_scale);
  options.growth_factor = named.number("growth_factor", options.growth_factor);
  options.backoff_factor = named.number("backoff_factor", options.backoff_factor);
  if (named.push("growth_interval")) {
    options.growth_interval = integer_argument(L, -1, {"GradScaler", "growth_interval"});
  }
  options.enabled = named.boolean("enabled", options.enabled);
  push_handle<ScalerPtr>(L, std::make_shared<GradScaler>(options));
  return 1;
}

constexpr luaL_Reg kAmpFunctions[] = {{"GradScaler", native<make_scaler>}};

}  // namespace

const HandleClass HandleOf<OptimizerPtr>::kClass = {"optimizer", kOptimizerMetamethods};
const HandleClass HandleOf<ScalerPtr>::kClass = {"GradScaler", kScalerMetamethods};

bool push_optimizer_constructor(lua_State* L, std::string_view name) {
  const auto& rows = optim::all_optimizers();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const optim::OptimizerDef& known) {
    return known.name == name;
  });
  if (row == rows.end()) return false;
  OHM_ASSERT(rows.size() <= kConstructors.size(), "more optimizers than numbered functions");
  lua_pushcfunction(L, kConstructors[static_cast<std::size_t>(row - rows.begin())]);
  return true;
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const optim::OptimizerDef& row : optim::all_optimizers()) names.emplace_back(row.name);
  return names;
}

std::span<const luaL_Reg> amp_functions() { return kAmpFunctions; }

}  // namespace ohm::lua
