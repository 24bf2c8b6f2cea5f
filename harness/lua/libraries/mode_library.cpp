#include "harness/lua/libraries/mode_library.h"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string_view>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/mode.h"
#include "harness/lua/bind/native.h"
#include "runtime/autograd/autocast_guard.h"
#include "runtime/autograd/autograd_state.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/op_front.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {

namespace {

int no_grad(lua_State* L) {
  return enter_mode(L, 1, {"no_grad", "fn"}, std::make_shared<GradModeGuard>(false));
}

int enable_grad(lua_State* L) {
  return enter_mode(L, 1, {"enable_grad", "fn"}, std::make_shared<GradModeGuard>(true));
}

int set_grad_enabled(lua_State* L) {
  const bool is_enabled = boolean_argument(L, 1, {"set_grad_enabled", "mode"});
  return enter_mode(L, 2, {"set_grad_enabled", "fn"}, std::make_shared<GradModeGuard>(is_enabled));
}

int inference_mode(lua_State* L) {
  return enter_mode(L, 1, {"inference_mode", "fn"}, std::make_shared<InferenceModeGuard>());
}

// autocast([device_type,] [{dtype, enabled, cache_enabled},] [fn, …])
int autocast(lua_State* L) {
  int index = 1;
  if (lua_type(L, index) == LUA_TSTRING) {
    const std::string_view device_type = lua_tostring(L, index);
    if (device_type != "cuda") {
      throw std::invalid_argument(
          fmt::format("[autocast] supports 'cuda' only, got '{}'", device_type));
    }
    ++index;
  }
  const int options = lua_istable(L, index) ? index++ : 0;
  const NamedArguments named(L, "autocast", options);
  constexpr std::string_view kNames[] = {"dtype", "enabled", "cache_enabled"};
  named.check_names(kNames);
  return enter_mode(L, index, {"autocast", "fn"},
                    std::make_shared<AutocastGuard>(named.boolean("enabled", true),
                                                    named.dtype("dtype", DType::float16),
                                                    named.boolean("cache_enabled", true)));
}

int is_grad_enabled(lua_State* L) {
  lua_pushboolean(L, Context::current().state.grad_enabled);
  return 1;
}

int is_inference_mode_enabled(lua_State* L) {
  lua_pushboolean(L, Context::current().state.inference_mode);
  return 1;
}

int is_autocast_enabled(lua_State* L) {
  const AutocastState* state = find_autocast_state();
  lua_pushboolean(L, state != nullptr && state->is_enabled);
  return 1;
}

constexpr luaL_Reg kModeFunctions[] = {
    {"autocast", native<autocast>},
    {"enable_grad", native<enable_grad>},
    {"inference_mode", native<inference_mode>},
    {"is_autocast_enabled", native<is_autocast_enabled>},
    {"is_grad_enabled", native<is_grad_enabled>},
    {"is_inference_mode_enabled", native<is_inference_mode_enabled>},
    {"no_grad", native<no_grad>},
    {"set_grad_enabled", native<set_grad_enabled>},
};

}  // namespace

std::span<const luaL_Reg> mode_functions() { return kModeFunctions; }

}  // namespace ohm::lua
