#include "harness/lua/bind/script_module.h"

#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/interpreter.h"
#include "harness/lua/vm/push_text.h"

namespace ohm::lua {
namespace {

// The results on top of the stack as one value: several of them must be tensors.
nn::Value result_of(lua_State* L, int results, std::string_view module) {
  const ArgumentName name{module, "result of forward"};
  if (results == 0) return {};
  if (results == 1) return call_argument(L, -1, name);
  std::vector<Tensor> tensors;
  for (int index = -results; index < 0; ++index) {
    tensors.push_back(tensor_argument(L, index, name));
  }
  return tensors;
}

}  // namespace

bool ScriptModule::push_function(lua_State* L, std::string_view name) const {
  if (!kind_->functions) return false;
  kind_->functions->push(L);
  push_text(L, name);
  lua_gettable(L, -2);
  lua_remove(L, -2);
  if (!lua_isnil(L, -1)) return true;
  lua_pop(L, 1);
  return false;
}

void ScriptModule::push_forward(lua_State* L) {
  for (const nn::NamedAttribute& attribute : attributes()) {
    const auto* function = std::any_cast<ReferencePtr>(&attribute.value);
    if (attribute.name == "forward" && function != nullptr) return (*function)->push(L);
  }
  if (!push_function(L, "forward")) {
    throw std::invalid_argument(fmt::format("[{}] has no function 'forward'", type_name()));
  }
}

nn::Value ScriptModule::forward(const std::vector<nn::Value>& inputs) {
  lua_State* L = interpreter_.running_state();
  const auto count = static_cast<int>(inputs.size());
  luaL_checkstack(L, 2 * count + LUA_MINSTACK, nullptr);
  const int top = lua_gettop(L);
  // They stay here for the time of the call, where an error finds them that has to hold them.
  for (const nn::Value& input : inputs) push_call_argument(L, input);
  push_forward(L);
  push_module(L, shared_from_this());
  for (int i = 1; i <= count; ++i) lua_pushvalue(L, top + i);
  lua_call(L, count + 1, LUA_MULTRET);
  nn::Value result = result_of(L, lua_gettop(L) - top - count, type_name());
  lua_settop(L, top);
  // The caller goes on without a native in between: what the script has left must not count.
  interpreter_.collect(L);
  return result;
}

}  // namespace ohm::lua
