#include "runtime/nn/module.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <unordered_set>
#include <utility>
#include <variant>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/tensor_data.h"
#include "runtime/lifetimes/call_frames.h"
#include "runtime/lifetimes/lifetimes.h"
#include "runtime/nn/module_walk.h"
#include "runtime/nn/remains.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/tensor/context.h"

namespace ohm::nn {
namespace {

struct Move {
  std::optional<Device> device;
  std::optional<DType> dtype;
  std::optional<MemoryFormat> format;
};

void move_tensor(const Tensor& tensor, const Move& move, Category category) {
  const NoGradGuard no_grad;
  const CategoryGuard guard(category);
  const std::optional<DType> dtype = is_floating(tensor.dtype()) ? move.dtype : std::nullopt;
  const bool has_format = tensor.dims() == 4 || tensor.dims() == 5;
  set_data(tensor, ops::to(tensor, move.device, dtype, ops::Transfer::blocking,
                           has_format ? move.format : std::nullopt));
}

void move_own_tensors(const Module& module, const Move& move) {
  for (const NamedTensor& entry : module.own_parameters()) {
    if (!entry.tensor.defined()) continue;
    move_tensor(entry.tensor, move, Category::parameter);
    const Tensor grad = entry.tensor.grad();
    if (grad.defined()) move_tensor(grad, move, Category::gradient);
  }
  for (const NamedTensor& entry : module.own_buffers()) {
    if (entry.tensor.defined()) move_tensor(entry.tensor, move, Category::parameter);
  }
}

std::vector<NamedTensor> unique_tensors(std::vector<NamedTensor> tensors) {
  std::unordered_set<const TensorImpl*> seen;
  const auto is_known = [&](const NamedTensor& entry) {
    return !seen.insert(entry.tensor.impl()).second;
  };
  tensors.erase(std::remove_if(tensors.begin(), tensors.end(), is_known), tensors.end());
  return tensors;
}

using ModuleRemains =
    Remains<ModulePtr, std::vector<NamedAttribute>, std::shared_ptr<ForwardHooks>>;

/// Of the calls of modules that are going on in this thread.
class NestedCall {
 public:
  explicit NestedCall(const Module& module)
      : state_(Context::current().state), call_{module, state_.running_module} {
    if (depth == Module::kMostNestedCalls) {
      throw std::invalid_argument(
          fmt::format("[{}] modules that are nested more than {} deep cannot be called",
                      module.type_name(), Module::kMostNestedCalls));
    }
    ++depth;
    state_.running_module = &call_;
  }
  ~NestedCall() {
    --depth;
    state_.running_module = call_.caller;
  }
  NestedCall(const NestedCall&) = delete;
  NestedCall& operator=(const NestedCall&) = delete;

 private:
  static thread_local int depth;
  ExecutionState& state_;
  RunningModule call_;
};

thread_local int NestedCall::depth = 0;

// Each module is looked at once, however many contain it.
bool contains(const Module& outer, const Module& inner) {
  std::unordered_set<const Module*> seen = {&outer};
  std::vector<const Module*> waiting = {&outer};
  while (!waiting.empty()) {
    const Module* module = waiting.back();
    waiting.pop_back();
    if (module == &inner) return true;
    for (const NamedModule& child : module->children()) {
      if (seen.insert(child.module.get()).second) waiting.push_back(child.module.get());
    }
  }
  return false;
}

std::vector<Tensor> tensors_among(const std::vector<Value>& values) {
  std::vector<Tensor> tensors;
  const auto add = [&tensors](const Tensor& tensor) {
    if (tensor.defined()) tensors.push_back(tensor);
  };
  for (const Value& value : values) {
    if (const auto* const tensor = std::get_if<Tensor>(&value)) {
      add(*tensor);
    } else if (const auto* const list = std::get_if<std::vector<Tensor>>(&value)) {
      for (const Tensor& tensor : *list) add(tensor);
    }
  }
  return tensors;
}

void append_defined(std::vector<NamedTensor>& all, const std::string& prefix,
                    const std::vector<NamedTensor>& own) {
  for (const NamedTensor& entry : own) {
    if (entry.tensor.defined()) all.push_back({prefix + entry.name, entry.tensor});
  }
}

}  // namespace

Module::Module(const Module& other)
    : std::enable_shared_from_this<Module>(other),
      parameters_(other.parameters_),
      buffers_(other.buffers_),
      children_(other.children_),
      attributes_(other.attributes_),
      hooks_(other.hooks_),
      slots_(other.slots_),
      computed_(other.computed_),
      is_training_(other.is_training_) {}

Module::~Module() {
  for (NamedTensor& parameter : parameters_.entries()) parameter.tensor = Tensor();
  for (NamedTensor& buffer : buffers_.entries()) buffer.tensor = Tensor();
  // Note [Modules in modules]
  ModuleRemains own;
  ModuleRemains& remains = ModuleRemains::of(this, own);
  // What goes first is on top.
  if (hooks_) remains.add(std::move(hooks_));
  if (!attributes_.empty()) remains.add(std::move(attributes_));
  std::vector<NamedModule>& children = children_.entries();
  for (std::size_t i = children.size(); i-- > 0;) remains.add(std::move(children[i].module));
  own.drop();
}

void move_data(const Tensor& tensor, Device device) {
  move_tensor(tensor, {device, std::nullopt, std::nullopt}, Category::parameter);
}

void Module::drop_parameters_from_the_last() {
  std::vector<NamedTensor>& parameters = parameters_.entries();
  for (std::size_t i = parameters.size(); i-- > 0;) parameters[i].tensor = Tensor();
}

Tensor Module::forward(const Tensor& input) try {
  const Value result = forward(std::vector<Value>{input});
  if (const Tensor* tensor = std::get_if<Tensor>(&result)) return *tensor;
  throw std::invalid_argument(fmt::format("[{}] expected forward to return a tensor", type_name()));
} catch (...) {
  hold_variables({input});
  throw;
}

/// The parameters that are computed for one call of their module.
class Module::ComputedForCall {
 public:
  explicit ComputedForCall(Module& module) : module_(module) {
    if (module.computed_.empty()) return;
    try {
      compute_all();
    } catch (...) {  // out of memory: what was computed before is not kept
      drop_all();
      throw;
    }
  }
  ~ComputedForCall() { drop_all(); }
  ComputedForCall(const ComputedForCall&) = delete;
  ComputedForCall& operator=(const ComputedForCall&) = delete;

 private:
  void compute_all() {
    module_.recompute_parameters();
    for (ComputedParameter& computed : module_.computed_) {
      if (!computed.how->is_kept()) computed.value = computed.how->compute(module_);
    }
  }
  void drop_all() {
    for (ComputedParameter& computed : module_.computed_) computed.value = Tensor();
  }

  Module& module_;
};

// What PyTorch's Python holds while a module runs goes with that module.
Value Module::call_with_hooks(const std::vector<Value>& inputs) {
  const ComputedForCall computed(*this);
  LocalsOfCall locals;
  if (!hooks_) return forward(inputs);
  const std::shared_ptr<ForwardHooks> hooks = hooks_;
  std::vector<Value> passed = inputs;
  const std::shared_ptr<BackwardHook> backward = hooks->before(*this, passed);
  Value output = forward(passed);
  hooks->after(*this, passed, output, backward);
  return output;
}

// The frames of a call hold its inputs, whatever forward does with its variables.
Value Module::call(const std::vector<Value>& inputs) try {
  const NestedCall nested(*this);
  return call_with_hooks(inputs);
} catch (...) {
  hold_variables(tensors_among(inputs));
  throw;
}

Tensor Module::call(const Tensor& input) {
  if (!hooks_) {
    const NestedCall nested(*this);
    const ComputedForCall computed(*this);
    LocalsOfCall locals;
    return forward(input);
  }
  const Value result = call(std::vector<Value>{input});
  if (const Tensor* tensor = std::get_if<Tensor>(&result)) return *tensor;
  throw std::invalid_argument(fmt::format("[{}] a hook must leave one tensor", type_name()));
}

const Tensor& Module::parameter_in_slot(std::size_t i) const {
  const std::string& name = slots_[i];
  if (const auto parameter = parameters_.find(name)) return own_parameters()[*parameter].tensor;
  for (const ComputedParameter& computed : computed_) {
    if (computed.name == name && computed.value.defined()) return computed.value;
  }
  const Tensor* const kept = find_kept_parameter(name);
  if (kept != nullptr) return *kept;
  throw std::invalid_argument(
      fmt::format("[{}] has no parameter '{}' outside of its calls", type_name(), name));
}

const Tensor* Module::find_kept_parameter(std::string_view name) const {
  for (const NamedAttribute& entry : attributes_) {
    if (entry.name != name) continue;
    const auto* const value = std::any_cast<Value>(&entry.value);
    return value == nullptr ? nullptr : std::get_if<Tensor>(value);
  }
  return nullptr;
}

void Module::recompute_parameters() {
  for (const ComputedParameter& computed : std::vector<ComputedParameter>(computed_)) {
    if (!computed.how->is_kept()) continue;
    set_attribute_tensor(computed.name, computed.how->compute(*this));
  }
}

void Module::set_attribute_tensor(const std::string& name, Tensor tensor) {
  for (NamedAttribute& entry : attributes_) {
    if (entry.name != name) continue;
    entry.value = Value(std::move(tensor));
    return;
  }
  attributes_.push_back({name, Value(std::move(tensor))});
}

void Module::add_parameter(std::string name, Tensor tensor) {
  parameters_.add({std::move(name), std::move(tensor)});
}

void Module::add_buffer(std::string name, Tensor tensor) {
  buffers_.add({std::move(name), std::move(tensor)});
}

void Module::refuse_cycle(std::string_view name, const Module& child) const {
  if (&child != this && (!was_child_ || !contains(child, *this))) return;
  throw std::invalid_argument(
      fmt::format("[{}] '{}' would make the module contain itself", type_name(), name));
}

void Module::add_child(std::string name, ModulePtr module) {
  refuse_cycle(name, *module);
  module->was_child_ = true;
  children_.add({std::move(name), std::move(module)});
}

void Module::set_child(std::size_t i, ModulePtr module) {
  NamedModule& child = children_.entries()[i];
  refuse_cycle(child.name, *module);
  module->was_child_ = true;
  child.module = std::move(module);
}

std::vector<NamedTensor> Module::named_parameters() const {
  std::vector<NamedTensor> all;
  walk_modules(*this, [&](const Module& module, const std::string& prefix) {
    append_defined(all, prefix, module.own_parameters());
  });
  return unique_tensors(std::move(all));
}

std::vector<NamedTensor> Module::named_buffers() const {
  std::vector<NamedTensor> all;
  walk_modules(*this, [&](const Module& module, const std::string& prefix) {
    append_defined(all, prefix, module.own_buffers());
  });
  return unique_tensors(std::move(all));
}

std::vector<Tensor> Module::parameters() const {
  std::vector<Tensor> tensors;
  for (NamedTensor& entry : named_parameters()) tensors.push_back(std::move(entry.tensor));
  return tensors;
}

void Module::move_to(std::optional<Device> device, std::optional<DType> dtype,
                     std::optional<MemoryFormat> format) {
  // Children first, as PyTorch goes: a parent's own tensors are the last to move.
  walk_modules(
      *this, [](const Module& /*module*/, const std::string& /*prefix*/) {},
      [&](Module& module) {
        move_own_tensors(module, {device, dtype, format});
        module.after_move();
      });
}

void Module::set_training(bool is_training) {
  walk_modules(*this, [is_training](Module& module, const std::string& /*prefix*/) {
    module.is_training_ = is_training;
  });
}

void Module::set_requires_grad(bool requires_grad) {
  for (const Tensor& parameter : parameters()) parameter.set_requires_grad(requires_grad);
}

void Module::zero_grad(bool set_to_none) {
  for (const Tensor& parameter : parameters()) {
    if (set_to_none) {
      parameter.set_grad(Tensor());
    } else if (parameter.grad().defined()) {
      fill_values(parameter.grad(), 0.0);
    }
  }
}

const Tensor& single_tensor(const std::vector<Value>& inputs, std::string_view module) {
  if (inputs.size() != 1 || !std::holds_alternative<Tensor>(inputs[0])) {
    throw std::invalid_argument(fmt::format("[{}] takes one tensor, got {} argument{}{}", module,
                                            inputs.size(), inputs.size() == 1 ? "" : "s",
                                            inputs.size() == 1 ? " that is not a tensor" : ""));
  }
  return std::get<Tensor>(inputs[0]);
}

}  // namespace ohm::nn
