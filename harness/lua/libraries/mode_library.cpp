#include "harness/lua/libraries/mode_library.h"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/mode.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/vm/dead_registers.h"
#include "runtime/autograd/autocast_guard.h"
#include "runtime/autograd/autograd_state.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/op_front.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {

/// What set_grad_enabled() found when it was called as a statement: back when this is closed, never
/// when it is collected.
struct GradModeSetting {
  bool previous = false;
};

template <>
struct HandleOf<GradModeSetting> {
  static const HandleClass kClass;
};

namespace {

int restore_grad_mode(lua_State* L) {
  Context::current().state.grad_enabled = test_handle<GradModeSetting>(L, 1)->previous;
  return 0;
}

constexpr luaL_Reg kGradModeMetamethods[] = {{"__close", restore_grad_mode}};

int no_grad(lua_State* L) {
  return enter_mode(L, 1, {"no_grad", "fn"}, std::make_shared<GradModeGuard>(false));
}

int enable_grad(lua_State* L) {
  return enter_mode(L, 1, {"enable_grad", "fn"}, std::make_shared<GradModeGuard>(true));
}

// set_grad_enabled(mode [, fn, …]): as PyTorch's, in force from the call on. `with` is a variable
// that its block closes.
int set_grad_enabled(lua_State* L) {
  const bool is_enabled = boolean_argument(L, 1, {"set_grad_enabled", "mode"});
  if (lua_isnone(L, 2) && !is_initial_value_to_close(L)) {
    bool& grad_enabled = Context::current().state.grad_enabled;
    push_handle<GradModeSetting>(L, {std::exchange(grad_enabled, is_enabled)});
    return 1;
  }
  return enter_mode(L, 2, {"set_grad_enabled", "fn"}, std::make_shared<GradModeGuard>(is_enabled));
}

int inference_mode(lua_State* L) {
  return enter_mode(L, 1, {"inference_mode", "fn"}, std::make_shared<InferenceModeGuard>());
}

void require_cuda(std::string_view device_type) {
  if (device_type == "cuda") return;
  throw std::invalid_argument(
      fmt::format("[autocast] supports 'cuda' only, got '{}'", device_type));
}

// autocast([device_type,] [{dtype, enabled, cache_enabled},] [fn, …])
int autocast(lua_State* L) {
  int index = 1;
  if (lua_type(L, index) == LUA_TSTRING) require_cuda(lua_tostring(L, index++));
  const int options = lua_istable(L, index) ? index++ : 0;
  const NamedArguments named(L, "autocast", options);
  constexpr std::string_view kNames[] = {"dtype", "enabled", "cache_enabled", "device_type"};
  named.check_names(kNames);
  if (named.push("device_type")) {
    require_cuda(string_argument(L, -1, {"autocast", "device_type"}));
    lua_pop(L, 1);
  }
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

constexpr luaL_Reg kAutocastFunctions[] = {{"autocast", native<autocast>}};

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

const HandleClass HandleOf<GradModeSetting>::kClass = {"mode", kGradModeMetamethods};

std::span<const luaL_Reg> autocast_functions() { return kAutocastFunctions; }
std::span<const luaL_Reg> mode_functions() { return kModeFunctions; }

}  // namespace ohm::lua
