#include "harness/lua/libraries/hook_library.h"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/mode.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/parameter_handle.h"
#include "harness/lua/bind/reference.h"
#include "harness/lua/bind/script_hooks.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/gradient_hooks.h"
#include "runtime/autograd/variable.h"
#include "runtime/ops/conversion/offload.h"

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

constexpr luaL_Reg kRemovalMethods[] = {{"remove", native<remove_hook, Entry::access>}};

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

int register_forward_hook(lua_State* L) {
  return register_on_module(L, "register_forward_hook", ScriptHooks::When::after_forward);
}

int register_forward_pre_hook(lua_State* L) {
  return register_on_module(L, "register_forward_pre_hook", ScriptHooks::When::before_forward);
}

int register_full_backward_hook(lua_State* L) {
  return register_on_module(L, "register_full_backward_hook", ScriptHooks::When::after_backward);
}

int register_full_backward_pre_hook(lua_State* L) {
  return register_on_module(L, "register_full_backward_pre_hook",
                            ScriptHooks::When::before_backward);
}

constexpr luaL_Reg kModuleHookMethods[] = {
    {"register_forward_hook", native<register_forward_hook, Entry::access>},
    {"register_forward_pre_hook", native<register_forward_pre_hook, Entry::access>},
    {"register_full_backward_hook", native<register_full_backward_hook, Entry::access>},
    {"register_full_backward_pre_hook", native<register_full_backward_pre_hook, Entry::access>},
};

// ---- hooks of tensors ---------------------------------------------------------------------------

// hook(parameter), after each accumulation into its gradient.
int register_post_accumulate_grad_hook(lua_State* L) {
  constexpr std::string_view kHookName = "register_post_accumulate_grad_hook";
  const Tensor& leaf = tensor_argument(L, 1, {kHookName, "self"});
  function_argument(L, 2, kHookName);
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

// What the script's function makes of a gradient; undefined where that is nothing.
Tensor call_gradient_hook(Interpreter& interpreter, const Reference& function, const Tensor& grad) {
  lua_State* L = interpreter.running_state();
  const int top = lua_gettop(L);
  luaL_checkstack(L, LUA_MINSTACK, nullptr);
  function.push(L);
  push_tensor(L, grad);
  lua_call(L, 1, 1);
  Tensor result;
  if (!lua_isnil(L, -1)) result = tensor_argument(L, -1, {"register_hook", "result of hook"});
  lua_settop(L, top);
  interpreter.collect(L);
  return result;
}

// hook(grad), before the gradient goes on: nothing or nil, or another one.
int register_hook(lua_State* L) {
  const Tensor tensor = tensor_argument(L, 1, {"register_hook", "self"});
  function_argument(L, 2, "register_hook");
  lua_settop(L, 2);
  auto remove = register_gradient_hook(
      tensor, [function = std::make_shared<const Reference>(L), &interpreter = Interpreter::of(L)](
                  const Tensor& grad) { return call_gradient_hook(interpreter, *function, grad); });
  return push_removal(L, std::move(remove));
}

int retain_grad(lua_State* L) {
  retain_gradient(tensor_argument(L, 1, {"retain_grad", "self"}));
  return 0;
}

constexpr luaL_Reg kHookTensorMethods[] = {
    {"register_hook", native<register_hook, Entry::access>},
    {"register_post_accumulate_grad_hook",
     native<register_post_accumulate_grad_hook, Entry::access>},
    {"retain_grad", native<retain_grad, Entry::access>},
};

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
  constexpr std::string_view kHookName = "saved_tensors_hooks";
  function_argument(L, 1, kHookName);
  function_argument(L, 2, kHookName);
  lua_pushvalue(L, 1);
  auto pack = std::make_shared<Reference>(L);
  lua_pushvalue(L, 2);
  auto unpack = std::make_shared<Reference>(L);
  return enter_mode(L, 3, {kHookName, "fn"},
                    std::make_shared<InstalledHook<ScriptSavedTensorHook>>(
                        Interpreter::of(L), std::move(pack), std::move(unpack)));
}

// save_on_cpu([{pin_memory},] [fn, …])
int save_on_cpu(lua_State* L) {
  constexpr std::string_view kHookName = "save_on_cpu";
  const int options = lua_istable(L, 1) ? 1 : 0;
  const NamedArguments named(L, kHookName, options);
  constexpr std::string_view kNames[] = {"pin_memory"};
  named.check_names(kNames);
  using HostMemory = ops::SaveOnCpu::HostMemory;
  const HostMemory memory =
      named.boolean("pin_memory", false) ? HostMemory::pinned : HostMemory::pageable;
  return enter_mode(L, options + 1, {kHookName, "fn"},
                    std::make_shared<InstalledHook<ops::SaveOnCpu>>(memory));
}

constexpr luaL_Reg kGraphFunctions[] = {
    {"save_on_cpu", native<save_on_cpu>},
    {"saved_tensors_hooks", native<saved_tensors_hooks>},
};

}  // namespace

const HandleClass HandleOf<RemovalPtr>::kClass = {"hook", kRemovalMetamethods};

std::span<const luaL_Reg> module_hook_methods() { return kModuleHookMethods; }
std::span<const luaL_Reg> tensor_hook_methods() { return kHookTensorMethods; }
std::span<const luaL_Reg> graph_functions() { return kGraphFunctions; }

}  // namespace ohm::lua
