#include "harness/lua/bind/script_function.h"

#include <optional>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/stop_recomputation.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/autograd/checkpoint.h"

namespace ohm::lua {
namespace {

// A list of values: null stands for the next tensor.
using Pattern = std::vector<ReferencePtr>;

Pattern pattern_of(lua_State* L, int first, int last, std::vector<Tensor>& tensors) {
  Pattern pattern;
  for (int index = first; index <= last; ++index) {
    const Tensor* tensor = test_handle<Tensor>(L, index);
    if (tensor != nullptr) {
      tensors.push_back(tensor_argument(L, index, {"checkpoint", "input"}));
      pattern.emplace_back();
    } else {
      lua_pushvalue(L, index);
      pattern.push_back(std::make_shared<Reference>(L));
    }
  }
  return pattern;
}

int push_pattern(lua_State* L, const Pattern& pattern, const std::vector<Tensor>& tensors) {
  luaL_checkstack(L, static_cast<int>(pattern.size()) + LUA_MINSTACK, "too many values");
  auto tensor = tensors.begin();
  for (const ReferencePtr& value : pattern) {
    if (value) {
      value->push(L);
    } else {
      push_tensor(L, *tensor++);
    }
  }
  return static_cast<int>(pattern.size());
}

}  // namespace

struct ScriptFunction::State {
  Interpreter& interpreter;
  nn::ModulePtr module;   ///< goes at once with the last holder, which Lua's values do not
  ReferencePtr function;  ///< where there is no module
  Pattern arguments = {nullptr};
  bool was_called = false;
  Pattern first_results = {};
};

ScriptFunction::ScriptFunction(lua_State* L, int index, std::string_view caller) {
  Interpreter& interpreter = Interpreter::of(L);
  if (test_handle<nn::ModulePtr>(L, index) != nullptr) {
    const nn::ModulePtr& module = module_argument(L, index, {caller, "function"});
    state_ = std::make_shared<State>(State{interpreter, module, nullptr});
    return;
  }
  if (lua_type(L, index) != LUA_TFUNCTION) {
    refuse_argument(L, index, {caller, "function"}, "a function or a module");
  }
  lua_pushvalue(L, index);
  state_ = std::make_shared<State>(State{interpreter, nullptr, std::make_shared<Reference>(L)});
}

std::vector<Tensor> ScriptFunction::bind_arguments(lua_State* L, int first, int last) {
  std::vector<Tensor> tensors;
  state_->arguments = pattern_of(L, first, last, tensors);
  return tensors;
}

std::vector<Tensor> ScriptFunction::operator()(const std::vector<Tensor>& tensors) const {
  Interpreter& interpreter = state_->interpreter;
  lua_State* L = interpreter.running_state();
  const int top = lua_gettop(L);
  luaL_checkstack(L, LUA_MINSTACK, nullptr);
  if (state_->module) {
    push_module(L, state_->module);
  } else {
    state_->function->push(L);
  }
  const int arguments = push_pattern(L, state_->arguments, tensors);
  const int status = lua_pcall(L, arguments, LUA_MULTRET, 0);
  std::vector<Tensor> outputs;
  if (status == LUA_OK) {
    Pattern results = pattern_of(L, top + 1, lua_gettop(L), outputs);
    if (!std::exchange(state_->was_called, true)) state_->first_results = std::move(results);
  } else if (!is_stop_recomputation(L, -1)) {
    lua_error(L);
  }
  lua_settop(L, top);
  interpreter.collect(L);
  if (status != LUA_OK) throw StopRecomputation();
  return outputs;
}

int ScriptFunction::push_first_results(lua_State* L, const std::vector<Tensor>& tensors) const {
  return push_pattern(L, std::exchange(state_->first_results, {}), tensors);
}

}  // namespace ohm::lua
