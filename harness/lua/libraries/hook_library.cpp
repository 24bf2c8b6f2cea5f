#include "harness/lua/libraries/hook_library.h"

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/parameter_handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/mode_library.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/variable.h"
#include "runtime/ops/offload.h"

namespace ohm::lua {

/// What a script got for a hook: takes it away again.
struct Removal {
  std::function<void()> remove;
};
using RemovalPtr = std::shared_ptr<Removal>;

template <>
struct HandleOf<RemovalPtr> {
  static const HandleClass kClass;
};

namespace {

int remove_hook(lua_State* L) {
  auto& removal = object_argument<Removal>(L, 1, {"remove", "self"});
  if (removal.remove) std::exchange(removal.remove, nullptr)();
  return 0;
}

constexpr luaL_Reg kRemovalMethods[] = {{"remove", native<remove_hook>}};

int index_removal(lua_State* L) { return push_method(L, kRemovalMethods, "hook"); }

constexpr luaL_Reg kRemovalMetamethods[] = {{"__index", native<index_removal, Entry::access>}};

int push_removal(lua_State* L, std::function<void()> remove) {
  push_handle<RemovalPtr>(L, std::make_shared<Removal>(Removal{std::move(remove)}));
  return 1;
}

void function_argument(lua_State* L, int index, std::string_view function) {
  if (lua_type(L, index) != LUA_TFUNCTION) {
    refuse_argument(L, index, {function, "hook"}, "a function");
  }
}

// ---- hooks of modules ---------------------------------------------------------------------------

// Pops `count` values into a new list, which is pushed.
void push_list_of(lua_State* L, int count) {
  lua_createtable(L, count, 0);
  lua_insert(L, -count - 1);
  for (int i = count; i >= 1; --i) lua_rawseti(L, -i - 1, i);
}

int register_on_module(lua_State* L, std::string_view method, ScriptHooks::When when) {
  const nn::ModulePtr module = module_argument(L, 1, {method, "self"});
  function_argument(L, 2, method);
  auto hooks = std::dynamic_pointer_cast<ScriptHooks>(module->hooks());
  if (!hooks) {
    hooks = std::make_shared<ScriptHooks>(L, module);
    module->set_hooks(hooks);
  }
  lua_settop(L, 2);
  const int number = hooks->add(L, when);
  return push_removal(L, [hooks = std::weak_ptr(hooks), number] {
    if (const auto left = hooks.lock()) left->remove(number);
  });
}

// ---- saved tensors ------------------------------------------------------------------------------

// Calls a function of the script with the value on top; its only result replaces that.
void call_with_top(lua_State* L, const Reference& function) {
  function.push(L);
  lua_insert(L, -2);
  lua_call(L, 1, 1);
}

class ScriptPackedTensor final : public PackedTensor {
 public:
  ScriptPackedTensor(Interpreter& interpreter, ReferencePtr value, ReferencePtr unpack)
      : interpreter_(interpreter), value_(std::move(value)), unpack_(std::move(unpack)) {}

  Tensor unpack() override {
    const NoGradGuard no_grad;
    lua_State* L = interpreter_.running_state();
    luaL_checkstack(L, LUA_MINSTACK, nullptr);
    value_->push(L);
    call_with_top(L, *unpack_);
    Tensor tensor = tensor_argument(L, -1, {"saved_tensors_hooks", "result of unpack_hook"});
    lua_pop(L, 1);
    interpreter_.collect(L);
    return tensor;
  }

 private:
  Interpreter& interpreter_;
  ReferencePtr value_;
  ReferencePtr unpack_;
};

class ScriptSavedTensorHook final : public SavedTensorHook {
 public:
  ScriptSavedTensorHook(Interpreter& interpreter, ReferencePtr pack, ReferencePtr unpack)
      : interpreter_(interpreter), pack_(std::move(pack)), unpack_(std::move(unpack)) {}

  IntrusivePtr<PackedTensor> pack(const Tensor& tensor) override {
    const NoGradGuard no_grad;
    lua_State* L = interpreter_.running_state();
    luaL_checkstack(L, LUA_MINSTACK, nullptr);
    push_tensor(L, tensor);
    call_with_top(L, *pack_);
    auto value = std::make_shared<Reference>(L);
    interpreter_.collect(L);
    return IntrusivePtr<PackedTensor>(
        new ScriptPackedTensor(interpreter_, std::move(value), unpack_));
  }

 private:
  Interpreter& interpreter_;
  ReferencePtr pack_;
  ReferencePtr unpack_;
};

/// A hook that is installed for as long as this lives.
template <class Hook>
struct InstalledHook {
  template <class... Arguments>
  explicit InstalledHook(Arguments&&... arguments)
      : hook(std::forward<Arguments>(arguments)...), guard(hook) {}
  Hook hook;
  SavedTensorHookGuard guard;
};

// saved_tensors_hooks(pack_hook, unpack_hook [, fn, …])
int saved_tensors_hooks(lua_State* L) {
  constexpr std::string_view kName = "saved_tensors_hooks";
  function_argument(L, 1, kName);
  function_argument(L, 2, kName);
  lua_pushvalue(L, 1);
  auto pack = std::make_shared<Reference>(L);
  lua_pushvalue(L, 2);
  auto unpack = std::make_shared<Reference>(L);
  return enter_mode(L, 3, {kName, "fn"},
                    std::make_shared<InstalledHook<ScriptSavedTensorHook>>(
                        Interpreter::of(L), std::move(pack), std::move(unpack)));
}

// save_on_cpu([{pin_memory},] [fn, …])
int save_on_cpu(lua_State* L) {
  constexpr std::string_view kName = "save_on_cpu";
  const int options = lua_istable(L, 1) ? 1 : 0;
  const NamedArguments named(L, kName, options);
  constexpr std::string_view kNames[] = {"pin_memory"};
  named.check_names(kNames);
  using HostMemory = ops::SaveOnCpu::HostMemory;
  const HostMemory memory =
      named.boolean("pin_memory", false) ? HostMemory::pinned : HostMemory::pageable;
  return enter_mode(L, options + 1, {kName, "fn"},
                    std::make_shared<InstalledHook<ops::SaveOnCpu>>(memory));
}

constexpr luaL_Reg kGraphFunctions[] = {
    {"save_on_cpu", native<save_on_cpu>},
    {"saved_tensors_hooks", native<saved_tensors_hooks>},
};

}  // namespace

const HandleClass HandleOf<RemovalPtr>::kClass = {"hook", kRemovalMetamethods};

// ---- ScriptHooks --------------------------------------------------------------------------------

ScriptHooks::ScriptHooks(lua_State* L, const nn::ModulePtr& module)
    : interpreter_(&Interpreter::of(L)), module_(module) {}

lua_State* ScriptHooks::running_state() const { return interpreter_->running_state(); }

int ScriptHooks::add(lua_State* L, When when) {
  hooks_.push_back({next_number_, when, std::make_shared<Reference>(L)});
  return next_number_++;
}

void ScriptHooks::remove(int number) {
  std::erase_if(hooks_, [number](const Hook& hook) { return hook.number == number; });
}

// A hook may remove itself while it runs.
std::vector<ScriptHooks::Hook> ScriptHooks::hooks_of(When when) const {
  std::vector<Hook> hooks;
  std::copy_if(hooks_.begin(), hooks_.end(), std::back_inserter(hooks),
               [when](const Hook& hook) { return hook.when == when; });
  return hooks;
}

// hook(module, inputs): nil, a list of inputs, or the only one.
void ScriptHooks::before_call(lua_State* L) {
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
  const int inputs = lua_gettop(L) - 1;
  for (int index = 2; index <= inputs + 1; ++index) lua_pushvalue(L, index);
  push_list_of(L, inputs);
}

// hook(module, inputs, results…): nothing or nil, or other results.
void ScriptHooks::after_call(lua_State* L, int inputs) {
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
}

void ScriptHooks::before(nn::Module& module, std::vector<nn::Value>& inputs) {
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
}

void ScriptHooks::after(nn::Module& module, const std::vector<nn::Value>& inputs,
                        nn::Value& output) {
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
}

int register_forward_hook(lua_State* L) {
  return register_on_module(L, "register_forward_hook", ScriptHooks::When::after_forward);
}

int register_forward_pre_hook(lua_State* L) {
  return register_on_module(L, "register_forward_pre_hook", ScriptHooks::When::before_forward);
}

// hook(parameter), after each accumulation into its gradient.
int register_post_accumulate_grad_hook(lua_State* L) {
  constexpr std::string_view kName = "register_post_accumulate_grad_hook";
  const Tensor& leaf = tensor_argument(L, 1, {kName, "self"});
  function_argument(L, 2, kName);
  if (!leaf.is_leaf() || !leaf.requires_grad()) {
    throw std::invalid_argument(
        "[register_post_accumulate_grad_hook] only leaves that require a gradient accumulate one");
  }
  lua_settop(L, 2);
  // The script's function goes when the hook is removed, its place in the list stays.
  const auto function = std::make_shared<ReferencePtr>(std::make_shared<Reference>(L));
  ensure_autograd_meta(leaf).accumulation_hooks.emplace_back(
      [function, &interpreter = Interpreter::of(L)](const Tensor& parameter) {
        const ReferencePtr hook = *function;
        if (!hook) return;
        lua_State* running = interpreter.running_state();
        luaL_checkstack(running, LUA_MINSTACK, nullptr);
        hook->push(running);
        push_parameter(running, parameter);
        lua_call(running, 1, 0);
        interpreter.collect(running);
      });
  return push_removal(L, [function] { function->reset(); });
}

std::span<const luaL_Reg> graph_functions() { return kGraphFunctions; }

}  // namespace ohm::lua
