#include "harness/lua/libraries/function_library.h"

#include <fmt/core.h>

#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/reference.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/autograd/custom_function.h"

namespace ohm::lua {

/// What a script's functions see as `ctx`.
struct FunctionContext {
  CustomForward forward;  ///< but for its outputs
  std::vector<bool> needs_input_grad;
  const BackwardCall* running = nullptr;  ///< backward is; what was saved can be had then
};
using FunctionContextPtr = std::shared_ptr<FunctionContext>;

template <>
struct HandleOf<FunctionContextPtr> {
  static const HandleClass kClass;
};

namespace {

constexpr int kFields = 1;  ///< the user value that has what the script put into `ctx`

// ---- ctx ----------------------------------------------------------------------------------------

FunctionContext& self(lua_State* L, std::string_view method) {
  return object_argument<FunctionContext>(L, 1, {method, "ctx"});
}

std::vector<Tensor> tensors_from_second(lua_State* L, std::string_view method) {
  std::vector<Tensor> tensors;
  for (int index = 2; index <= lua_gettop(L); ++index) {
    tensors.push_back(lua_isnil(L, index) ? Tensor()
                                          : tensor_argument(L, index, {method, "tensor"}));
  }
  return tensors;
}

int save_for_backward(lua_State* L) {
  FunctionContext& context = self(L, "save_for_backward");
  context.forward.saved = tensors_from_second(L, "save_for_backward");
  return 0;
}

int mark_dirty(lua_State* L) {
  FunctionContext& context = self(L, "mark_dirty");
  context.forward.written = tensors_from_second(L, "mark_dirty");
  return 0;
}

int mark_non_differentiable(lua_State* L) {
  FunctionContext& context = self(L, "mark_non_differentiable");
  context.forward.not_differentiable = tensors_from_second(L, "mark_non_differentiable");
  return 0;
}

int set_materialize_grads(lua_State* L) {
  FunctionContext& context = self(L, "set_materialize_grads");
  context.forward.makes_zeros = boolean_argument(L, 2, {"set_materialize_grads", "value"});
  return 0;
}

constexpr luaL_Reg kContextMethods[] = {
    {"mark_dirty", native<mark_dirty, Entry::access>},
    {"mark_non_differentiable", native<mark_non_differentiable, Entry::access>},
    {"save_for_backward", native<save_for_backward, Entry::access>},
    {"set_materialize_grads", native<set_materialize_grads, Entry::access>},
};

// A new list at each access, as each of Python's is a new tuple.
int push_saved_tensors(lua_State* L, const FunctionContext& context) {
  if (context.running == nullptr) {
    throw std::invalid_argument("[ctx] saved_tensors are there while backward runs");
  }
  const auto count = context.forward.saved.size();
  lua_createtable(L, static_cast<int>(count), 0);
  for (std::size_t i = count; i > 0; --i) {
    push_tensor(L, context.running->saved(i - 1));
    lua_rawseti(L, -2, static_cast<lua_Integer>(i));
  }
  return 1;
}

int push_needs_input_grad(lua_State* L, const FunctionContext& context) {
  lua_createtable(L, static_cast<int>(context.needs_input_grad.size()), 0);
  lua_Integer number = 0;
  for (const bool needs : context.needs_input_grad) {
    lua_pushboolean(L, needs);
    lua_rawseti(L, -2, ++number);
  }
  return 1;
}

int index_context(lua_State* L) {
  const FunctionContext& context = self(L, "index");
  const std::string_view name = string_argument(L, 2, {"ctx", "name"});
  if (name == "saved_tensors") return push_saved_tensors(L, context);
  if (name == "needs_input_grad") return push_needs_input_grad(L, context);
  if (const lua_CFunction method = find_method(kContextMethods, name)) {
    lua_pushcfunction(L, method);
    return 1;
  }
  lua_getiuservalue(L, 1, kFields);
  lua_pushvalue(L, 2);
  lua_rawget(L, -2);
  return 1;
}

int set_context_field(lua_State* L) {
  self(L, "newindex");
  string_argument(L, 2, {"ctx", "name"});
  lua_settop(L, 3);
  lua_getiuservalue(L, 1, kFields);
  lua_insert(L, 2);
  Interpreter::of(L).lifetimes().before_write(L, 2, 3);
  lua_rawset(L, 2);
  return 0;
}

constexpr luaL_Reg kContextMetamethods[] = {
    {"__index", native<index_context, Entry::access>},
    {"__newindex", native<set_context_field, Entry::access>},
};

void push_context(lua_State* L, FunctionContextPtr context) {
  push_handle<FunctionContextPtr>(L, std::move(context), kFields);
  lua_newtable(L);
  lua_setiuservalue(L, -2, kFields);
}

/// While it lives, backward runs.
class RunningBackward {
 public:
  RunningBackward(FunctionContext& context, const BackwardCall& call) : context_(context) {
    context_.running = &call;
  }
  ~RunningBackward() { context_.running = nullptr; }
  RunningBackward(const RunningBackward&) = delete;
  RunningBackward& operator=(const RunningBackward&) = delete;

 private:
  FunctionContext& context_;
};

// ---- the function -------------------------------------------------------------------------------

constexpr std::string_view kNodeName = "FunctionBackward";

/// One call of a script's function: its ctx, and which of its arguments are tensors.
class ScriptFunctionCall final : public CustomFunction {
 public:
  /// The definition is at `definition`, the arguments from 1 to the top.
  ScriptFunctionCall(lua_State* L, int definition);

  std::string_view name() const override { return kNodeName; }
  CustomForward forward(const std::vector<Tensor>& inputs, const std::vector<bool>& needs) override;
  TensorList backward(BackwardCall& call, const TensorList& grads) override;

  /// Of the arguments, the tensors: once only.
  std::vector<Tensor> take_inputs() { return std::exchange(inputs_, {}); }
  /// Pushes what forward returned, its tensors replaced by these; returns how many values.
  int push_results(lua_State* L, const std::vector<Tensor>& outputs);

 private:
  ReferencePtr function_of(lua_State* L, int definition, const char* field, bool is_needed) const;
  void set_up_context(lua_State* L, int results);
  TensorList gradients(lua_State* L, int first) const;

  Interpreter& interpreter_;
  ReferencePtr forward_;
  ReferencePtr backward_;
  ReferencePtr set_up_;
  FunctionContextPtr context_ = std::make_shared<FunctionContext>();
  ReferencePtr context_handle_;
  std::vector<bool> is_tensor_;
  std::vector<Tensor> inputs_;
  int arguments_;
  std::vector<ReferencePtr> results_;  ///< null for the next tensor
};

ScriptFunctionCall::ScriptFunctionCall(lua_State* L, int definition)
    : interpreter_(Interpreter::of(L)),
      forward_(function_of(L, definition, "forward", true)),
      backward_(function_of(L, definition, "backward", true)),
      set_up_(function_of(L, definition, "setup_context", false)),
      arguments_(lua_gettop(L)) {
  for (int index = 1; index <= arguments_; ++index) {
    const bool is_tensor = test_handle<Tensor>(L, index) != nullptr;
    is_tensor_.push_back(is_tensor);
    if (is_tensor) inputs_.push_back(tensor_argument(L, index, {"apply", "input"}));
  }
  push_context(L, context_);
  context_handle_ = std::make_shared<Reference>(L);
}

ReferencePtr ScriptFunctionCall::function_of(lua_State* L, int definition, const char* field,
                                             bool is_needed) const {
  const int type = lua_getfield(L, definition, field);
  if (type != LUA_TFUNCTION && (is_needed || type != LUA_TNIL)) {
    refuse_argument(L, -1, {"Function", field}, "a function");
  }
  if (type == LUA_TFUNCTION) return std::make_shared<Reference>(L);
  lua_pop(L, 1);
  return nullptr;
}

// setup_context(ctx, inputs, results…)
void ScriptFunctionCall::set_up_context(lua_State* L, int results) {
  const int first = lua_gettop(L) - results + 1;
  set_up_->push(L);
  context_handle_->push(L);
  lua_createtable(L, arguments_, 0);
  for (int index = 1; index <= arguments_; ++index) {
    lua_pushvalue(L, index);
    lua_rawseti(L, -2, index);
  }
  for (int i = 0; i < results; ++i) lua_pushvalue(L, first + i);
  lua_call(L, results + 2, 0);
}

CustomForward ScriptFunctionCall::forward(const std::vector<Tensor>& /*inputs*/,
                                          const std::vector<bool>& needs) {
  auto need = needs.begin();
  for (const bool is_tensor : is_tensor_) {
    context_->needs_input_grad.push_back(is_tensor && *need++);
  }
  lua_State* L = interpreter_.running_state();
  const int top = lua_gettop(L);
  luaL_checkstack(L, 2 * arguments_ + LUA_MINSTACK, nullptr);
  forward_->push(L);
  if (!set_up_) context_handle_->push(L);
  for (int index = 1; index <= arguments_; ++index) lua_pushvalue(L, index);
  lua_call(L, arguments_ + (set_up_ ? 0 : 1), LUA_MULTRET);
  const int count = lua_gettop(L) - top;
  luaL_checkstack(L, count + LUA_MINSTACK, nullptr);
  if (set_up_) set_up_context(L, count);
  CustomForward forward = context_->forward;
  for (int index = top + 1; index <= top + count; ++index) {
    if (test_handle<Tensor>(L, index) != nullptr) {
      forward.outputs.push_back(tensor_argument(L, index, {"apply", "output"}));
      results_.emplace_back();
    } else {
      lua_pushvalue(L, index);
      results_.push_back(std::make_shared<Reference>(L));
    }
  }
  lua_settop(L, top);
  interpreter_.collect(L);
  // The node keeps what was saved from now on.
  for (Tensor& tensor : context_->forward.saved) tensor = Tensor();
  context_->forward.written.clear();
  context_->forward.not_differentiable.clear();
  return forward;
}

int ScriptFunctionCall::push_results(lua_State* L, const std::vector<Tensor>& outputs) {
  luaL_checkstack(L, static_cast<int>(results_.size()) + LUA_MINSTACK, nullptr);
  auto output = outputs.begin();
  for (const ReferencePtr& result : std::exchange(results_, {})) {
    if (result) {
      result->push(L);
    } else {
      push_tensor(L, *output++);
    }
  }
  return lua_gettop(L);
}

TensorList ScriptFunctionCall::backward(BackwardCall& call, const TensorList& grads) {
  lua_State* L = interpreter_.running_state();
  const int top = lua_gettop(L);
  const auto count = static_cast<int>(grads.size());
  luaL_checkstack(L, count + LUA_MINSTACK, nullptr);
  TensorList results;
  {
    const RunningBackward running(*context_, call);
    backward_->push(L);
    context_handle_->push(L);
    for (const Tensor& grad : grads) push_tensor(L, grad);
    lua_call(L, count + 1, LUA_MULTRET);
    results = gradients(L, top + 1);
  }
  lua_settop(L, top);
  interpreter_.collect(L);
  return results;
}

// One result for each argument; those behind them have to be nil.
TensorList ScriptFunctionCall::gradients(lua_State* L, int first) const {
  const int count = lua_gettop(L) - first + 1;
  bool is_wrong = count < arguments_;
  for (int i = arguments_; i < count; ++i) is_wrong = is_wrong || !lua_isnil(L, first + i);
  if (is_wrong) {
    throw std::invalid_argument(
        fmt::format("function {} returned an incorrect number of gradients (expected {}, got {})",
                    kNodeName, arguments_, count));
  }
  TensorList results;
  for (int i = 0; i < arguments_; ++i) {
    const bool is_none = lua_isnil(L, first + i);
    if (is_tensor_[static_cast<std::size_t>(i)]) {
      results.push_back(is_none ? Tensor()
                                : tensor_argument(L, first + i, {kNodeName, "gradient"}));
    } else if (!is_none) {
      throw std::invalid_argument(
          fmt::format("function {} returned a gradient different from nil at position {}, but the "
                      "corresponding forward input was not a tensor",
                      kNodeName, i + 1));
    }
  }
  return results;
}

// Function.apply(…): the definition is the function's upvalue.
int apply_function(lua_State* L) {
  const auto call = std::make_shared<ScriptFunctionCall>(L, lua_upvalueindex(1));
  const std::vector<Tensor> inputs = call->take_inputs();
  const std::vector<Tensor> outputs = call_function(call, inputs);
  lua_settop(L, 0);
  return call->push_results(L, outputs);
}

// Function{forward, backward [, setup_context]}
int make_function(lua_State* L) {
  if (lua_type(L, 1) != LUA_TTABLE) {
    refuse_argument(L, 1, {"Function", "definition"}, "a table with forward and backward");
  }
  const NamedArguments named(L, "Function", 1);
  constexpr std::string_view kNames[] = {"backward", "forward", "setup_context"};
  named.check_names(kNames);
  for (const char* field : {"forward", "backward"}) {
    if (lua_getfield(L, 1, field) != LUA_TFUNCTION) {
      refuse_argument(L, -1, {"Function", field}, "a function");
    }
    lua_pop(L, 1);
  }
  lua_newtable(L);
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, native<apply_function>, 1);
  lua_setfield(L, -2, "apply");
  return 1;
}

constexpr luaL_Reg kFunctionFunctions[] = {
    {"Function", native<make_function, Entry::access>},
};

}  // namespace

const HandleClass HandleOf<FunctionContextPtr>::kClass = {"ctx", kContextMetamethods};

std::span<const luaL_Reg> function_functions() { return kFunctionFunctions; }

}  // namespace ohm::lua
