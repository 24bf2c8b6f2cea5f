#include "harness/lua/bind/script_hooks.h"

#include <utility>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/tensor_handle.h"

namespace ohm::lua {
namespace {

// Pops `count` values into a new list, which is pushed.
void push_list_of(lua_State* L, int count) {
  lua_createtable(L, count, 0);
  lua_insert(L, -count - 1);
  for (int i = count; i >= 1; --i) lua_rawseti(L, -i - 1, i);
}

// The values from `first` to the top, undefined for what is not a tensor.
std::vector<Tensor> tensors_on_stack(lua_State* L, int first) {
  std::vector<Tensor> tensors;
  for (int index = first; index <= lua_gettop(L); ++index) {
    const Tensor* tensor = test_handle<Tensor>(L, index);
    tensors.push_back(tensor == nullptr ? Tensor() : *tensor);
  }
  return tensors;
}

// Those that have become others.
void put_on_stack(lua_State* L, int first, const std::vector<Tensor>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const int index = first + static_cast<int>(i);
    if (!tensors[i].defined() || tensors[i].is_same(*test_handle<Tensor>(L, index))) continue;
    push_tensor(L, tensors[i]);
    lua_replace(L, index);
  }
}

// The last handle is the oldest: elements of a list that dies go from the last to the first.
void push_gradients(lua_State* L, const nn::GradientList& grads) {
  lua_createtable(L, static_cast<int>(grads.size()), 0);
  for (std::size_t i = grads.size(); i > 0; --i) {
    push_tensor(L, grads[i - 1]);
    lua_rawseti(L, -2, static_cast<lua_Integer>(i));
  }
}

// What a hook returned, on top of the stack: nothing, a list of gradients, or the only one.
void take_gradients(lua_State* L, nn::GradientList& grads, const ArgumentName& name) {
  if (lua_isnil(L, -1)) return;
  if (lua_type(L, -1) != LUA_TTABLE) {
    if (grads.size() != 1) refuse_argument(L, lua_gettop(L), name, "a list of gradients");
    grads[0] = tensor_argument(L, -1, name);
    return;
  }
  const int list = lua_gettop(L);
  for (std::size_t i = 0; i < grads.size(); ++i) {
    lua_rawgeti(L, list, static_cast<lua_Integer>(i) + 1);
    grads[i] = lua_isnil(L, -1) ? Tensor() : tensor_argument(L, -1, name);
    lua_pop(L, 1);
  }
}

}  // namespace

ScriptHooks::ScriptHooks(lua_State* L, const nn::ModulePtr& module)
    : interpreter_(&Interpreter::of(L)), module_(module) {}

lua_State* ScriptHooks::running_state() const { return interpreter_->running_state(); }

int ScriptHooks::add(lua_State* L, When when) {
  hooks_.emplace(next_number_, Hook{when, std::make_shared<Reference>(L)});
  return next_number_++;
}

void ScriptHooks::remove(int number) { hooks_.erase(number); }

// A hook may remove itself while it runs.
std::vector<ScriptHooks::Hook> ScriptHooks::hooks_of(When when) const {
  std::vector<Hook> hooks;
  for (const auto& [number, hook] : hooks_) {
    if (hook.when == when) hooks.push_back(hook);
  }
  return hooks;
}

// before: hook(module, gradients of outputs); after: hook(module, gradients of inputs, gradients of
// outputs). Each returns nothing, or what takes the place of its first list.
ScriptHooks::BackwardHookPtr ScriptHooks::backward_hook() const {
  std::vector<Hook> before = hooks_of(When::before_backward);
  std::vector<Hook> after = hooks_of(When::after_backward);
  if (before.empty() && after.empty()) return nullptr;
  // The module lasts as long as the graph that has the hook, as in PyTorch.
  const auto run = [interpreter = interpreter_, module = module_.lock()](
                       const std::vector<Hook>& hooks, nn::GradientList& grads,
                       const nn::GradientList* of_outputs) {
    lua_State* L = interpreter->running_state();
    for (const Hook& hook : hooks) {
      const int top = lua_gettop(L);
      luaL_checkstack(L, LUA_MINSTACK, nullptr);
      hook.function->push(L);
      push_module(L, module);
      push_gradients(L, grads);
      if (of_outputs != nullptr) push_gradients(L, *of_outputs);
      lua_call(L, of_outputs == nullptr ? 2 : 3, 1);
      take_gradients(L, grads, {"backward hook", "result"});
      lua_settop(L, top);
      interpreter->collect(L);
    }
  };
  nn::BackwardHook::Calls calls;
  if (!before.empty()) {
    calls.before = [run, before = std::move(before)](nn::GradientList& of_outputs) {
      run(before, of_outputs, nullptr);
    };
  }
  if (!after.empty()) {
    calls.after = [run, after = std::move(after)](nn::GradientList& of_inputs,
                                                  const nn::GradientList& of_outputs) {
      run(after, of_inputs, &of_outputs);
    };
  }
  return std::make_shared<nn::BackwardHook>(std::move(calls));
}

// hook(module, inputs): nil, a list of inputs, or the only one.
ScriptHooks::BackwardHookPtr ScriptHooks::before_call(lua_State* L) {
  for (const Hook& hook : hooks_of(When::before_forward)) {
    const int inputs = lua_gettop(L) - 1;
    luaL_checkstack(L, inputs + LUA_MINSTACK, nullptr);
    hook.function->push(L);
    push_module(L, module_.lock());
    for (int index = 2; index <= inputs + 1; ++index) lua_pushvalue(L, index);
    push_list_of(L, inputs);
    lua_call(L, 2, 1);
    if (lua_isnil(L, -1)) {
      lua_pop(L, 1);
      continue;
    }
    lua_replace(L, 2);
    lua_settop(L, 2);
    if (lua_type(L, 2) != LUA_TTABLE) continue;
    const auto count = static_cast<int>(lua_rawlen(L, 2));
    luaL_checkstack(L, count + LUA_MINSTACK, nullptr);
    for (int i = 1; i <= count; ++i) lua_rawgeti(L, 2, i);
    lua_remove(L, 2);
  }
  const BackwardHookPtr backward = backward_hook();
  const int inputs = lua_gettop(L) - 1;
  if (backward) {
    std::vector<Tensor> tensors = tensors_on_stack(L, 2);
    backward->watch_inputs(tensors);
    put_on_stack(L, 2, tensors);
  }
  luaL_checkstack(L, inputs + LUA_MINSTACK, nullptr);
  for (int index = 2; index <= inputs + 1; ++index) lua_pushvalue(L, index);
  push_list_of(L, inputs);
  return backward;
}

// hook(module, inputs, results…): nothing or nil, or other results.
void ScriptHooks::after_call(lua_State* L, int inputs, const BackwardHookPtr& backward) {
  for (const Hook& hook : hooks_of(When::after_forward)) {
    const int top = lua_gettop(L);
    luaL_checkstack(L, top + LUA_MINSTACK, nullptr);
    hook.function->push(L);
    push_module(L, module_.lock());
    for (int index = inputs; index <= top; ++index) lua_pushvalue(L, index);
    lua_call(L, top - inputs + 2, LUA_MULTRET);
    if (lua_gettop(L) == top || lua_isnil(L, top + 1)) {
      lua_settop(L, top);
      continue;
    }
    for (int index = top; index > inputs; --index) lua_remove(L, index);
  }
  if (backward) {
    std::vector<Tensor> tensors = tensors_on_stack(L, inputs + 1);
    backward->watch_outputs(tensors);
    put_on_stack(L, inputs + 1, tensors);
  }
}

ScriptHooks::BackwardHookPtr ScriptHooks::before(nn::Module& module,
                                                 std::vector<nn::Value>& inputs) {
  lua_State* L = running_state();
  for (const Hook& hook : hooks_of(When::before_forward)) {
    const int top = lua_gettop(L);
    luaL_checkstack(L, static_cast<int>(inputs.size()) + LUA_MINSTACK, nullptr);
    hook.function->push(L);
    push_module(L, module_.lock());
    for (const nn::Value& input : inputs) push_call_argument(L, input);
    push_list_of(L, static_cast<int>(inputs.size()));
    lua_call(L, 2, 1);
    const ArgumentName name{module.type_name(), "result of a forward pre-hook"};
    if (lua_type(L, -1) == LUA_TTABLE) {
      inputs.clear();
      const auto count = static_cast<lua_Integer>(lua_rawlen(L, -1));
      for (lua_Integer i = 1; i <= count; ++i) {
        lua_rawgeti(L, top + 1, i);
        inputs.push_back(call_argument(L, -1, name));
        lua_pop(L, 1);
      }
    } else if (!lua_isnil(L, -1)) {
      inputs = {call_argument(L, -1, name)};
    }
    lua_settop(L, top);
    interpreter_->collect(L);
  }
  const BackwardHookPtr backward = backward_hook();
  if (!backward) return nullptr;
  std::vector<Tensor> tensors;
  for (const nn::Value& input : inputs) {
    const Tensor* tensor = std::get_if<Tensor>(&input);
    tensors.push_back(tensor == nullptr ? Tensor() : *tensor);
  }
  backward->watch_inputs(tensors);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (tensors[i].defined()) inputs[i] = tensors[i];
  }
  return backward;
}

void ScriptHooks::after(nn::Module& module, const std::vector<nn::Value>& inputs, nn::Value& output,
                        const BackwardHookPtr& backward) {
  lua_State* L = running_state();
  for (const Hook& hook : hooks_of(When::after_forward)) {
    const int top = lua_gettop(L);
    luaL_checkstack(L, static_cast<int>(inputs.size()) + LUA_MINSTACK, nullptr);
    hook.function->push(L);
    push_module(L, module_.lock());
    for (const nn::Value& input : inputs) push_call_argument(L, input);
    push_list_of(L, static_cast<int>(inputs.size()));
    push_call_argument(L, output);
    lua_call(L, 3, 1);
    if (!lua_isnil(L, -1)) {
      output = call_argument(L, -1, {module.type_name(), "result of a forward hook"});
    }
    lua_settop(L, top);
    interpreter_->collect(L);
  }
  if (!backward) return;
  if (auto* tensors = std::get_if<std::vector<Tensor>>(&output)) {
    backward->watch_outputs(*tensors);
  } else if (auto* tensor = std::get_if<Tensor>(&output)) {
    std::vector<Tensor> alone = {*tensor};
    backward->watch_outputs(alone);
    *tensor = alone.front();
  }
}

}  // namespace ohm::lua
