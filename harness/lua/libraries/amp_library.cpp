#include "harness/lua/libraries/amp_library.h"

#include <memory>
#include <stdexcept>
#include <string_view>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/optimizer_handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/amp/grad_scaler.h"

namespace ohm::lua {

using amp::GradScaler;
using optim::Optimizer;
using ScalerPtr = std::shared_ptr<GradScaler>;

template <>
struct HandleOf<ScalerPtr> {
  static const HandleClass kClass;
};

namespace {

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

constexpr std::string_view kStateNames[] = {"_growth_tracker", "backoff_factor", "growth_factor",
                                            "growth_interval", "scale"};

// Of a scaler that is not enabled the state is empty.
int scaler_state(lua_State* L) {
  const GradScaler& self = scaler(L, "state_dict");
  lua_newtable(L);
  if (!self.is_enabled()) return 1;
  const amp::GradScalerState state = self.state();
  const auto set = [&](const char* name, double number) {
    lua_pushnumber(L, number);
    lua_setfield(L, -2, name);
  };
  set("scale", state.scale);
  set("growth_factor", state.growth_factor);
  set("backoff_factor", state.backoff_factor);
  lua_pushinteger(L, state.growth_interval);
  lua_setfield(L, -2, "growth_interval");
  lua_pushinteger(L, state.growth_tracker);
  lua_setfield(L, -2, "_growth_tracker");
  return 1;
}

// Nothing is left out: PyTorch's KeyError.
int load_scaler_state(lua_State* L) {
  constexpr std::string_view kLoadName = "load_state_dict";
  GradScaler& self = scaler(L, kLoadName);
  if (lua_type(L, 2) != LUA_TTABLE) refuse_argument(L, 2, {kLoadName, "state_dict"}, "a table");
  if (!self.is_enabled()) return 0;
  lua_pushnil(L);
  if (lua_next(L, 2) == 0) {
    throw std::invalid_argument(
        "[load_state_dict] The source state dict is empty, possibly because it was saved from a "
        "disabled instance of GradScaler.");
  }
  lua_settop(L, 2);
  const NamedArguments named(L, kLoadName, 2);
  named.check_names(kStateNames);
  const auto number = [&](std::string_view name) {
    if (!named.push(name)) lua_pushnil(L);
    return number_argument(L, -1, {kLoadName, name});
  };
  const auto integer = [&](std::string_view name) {
    if (!named.push(name)) lua_pushnil(L);
    return integer_argument(L, -1, {kLoadName, name});
  };
  self.load_state({number("scale"), number("growth_factor"), number("backoff_factor"),
                   integer("growth_interval"), integer("_growth_tracker")});
  return 0;
}

constexpr luaL_Reg kScalerMethods[] = {
    {"get_scale", native<get_scale>},
    {"is_enabled", native<is_enabled>},
    {"load_state_dict", native<load_scaler_state>},
    {"scale", native<scale>},
    {"state_dict", native<scaler_state>},
    {"step", native<scaled_step>},
    {"unscale_", native<unscale>},
    {"update", native<update>},
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

const HandleClass HandleOf<ScalerPtr>::kClass = {"GradScaler", kScalerMetamethods};

std::span<const luaL_Reg> amp_functions() { return kAmpFunctions; }

}  // namespace ohm::lua
