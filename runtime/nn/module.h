// Modules: what a network is built of.
//
// A module owns parameters, buffers and child modules, all with names; parameters of children have
// dotted names ("0.weight"). It is used through a shared_ptr and called with tensors:
//
//   auto net = std::make_shared<Sequential>(…);
//   net->move_to(Device::cuda(0), std::nullopt);
//   Tensor loss = cross_entropy(net->forward(x), y);
#pragma once

#include <any>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/arithmetic/memory_format.h"
#include "runtime/nn/named_list.h"
#include "runtime/ops/value.h"
#include "runtime/tensor/tensor.h"

namespace ohm::nn {

using ops::Value;

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// A parameter or buffer that a module may do without.
inline std::optional<Tensor> if_defined(const Tensor& tensor) {
  return tensor.defined() ? std::optional<Tensor>(tensor) : std::nullopt;
}

class BackwardHook;
class Module;
using ModulePtr = std::shared_ptr<Module>;

struct NamedModule {
  std::string name;
  ModulePtr module;
};

/// Whatever else a program hangs on a module, as a Python program can.
struct NamedAttribute {
  std::string name;
  std::any value;
  bool is_option = false;  ///< what the module was made with
};

/// How a parameter is computed of others, as reparametrization.h has it.
class Reparametrization {
 public:
  explicit Reparametrization(std::string parameter) : parameter_(std::move(parameter)) {}
  Reparametrization(const Reparametrization&) = delete;
  Reparametrization& operator=(const Reparametrization&) = delete;
  virtual ~Reparametrization() = default;

  /// As messages have it: "weight_norm".
  virtual std::string_view type_name() const = 0;
  /// Whether what is computed at the beginning of a call stays until the next one, as an attribute
  /// of the module. What is not kept is computed whenever it is asked for.
  virtual bool is_kept() const = 0;
  virtual Tensor compute(Module& module) const = 0;

  const std::string& parameter() const { return parameter_; }

 private:
  std::string parameter_;
};

/// A parameter that is computed of others.
struct ComputedParameter {
  std::string name;
  std::shared_ptr<const Reparametrization> how;
  Tensor value;  ///< while a call goes on; of one that is kept it is an attribute of the module
};

/// What a program wants to happen at every call of a module.
class ForwardHooks {
 public:
  ForwardHooks() = default;
  ForwardHooks(const ForwardHooks&) = delete;
  ForwardHooks& operator=(const ForwardHooks&) = delete;
  virtual ~ForwardHooks() = default;

  /// May replace the inputs. What it returns is given to after(), for this call.
  virtual std::shared_ptr<BackwardHook> before(Module& module, std::vector<Value>& inputs) = 0;
  /// May replace the output.
  virtual void after(Module& module, const std::vector<Value>& inputs, Value& output,
                     const std::shared_ptr<BackwardHook>& backward) = 0;
};

/// A call of a module that is going on, and the one that made it; see running_module.h.
struct RunningModule {
  const Module& module;
  const RunningModule* caller = nullptr;
};

class Module : public std::enable_shared_from_this<Module> {
 public:
  /// How deep calls of modules by modules may be nested: Python's limit of recursion.
  static constexpr int kMostNestedCalls = 1000;

  Module() = default;
  /// Lets go of the parameters first, then the buffers, then the children, as Python's dictionary
  /// of the module does.
  virtual ~Module();
  Module& operator=(const Module&) = delete;

  /// PyTorch's class name: "Linear".
  virtual std::string_view type_name() const = 0;

  /// What the inputs of forward() are called, in their order; none where they have no names.
  virtual std::span<const std::string_view> input_names() const { return {}; }

  /// The forward pass. The caller keeps `inputs` alive for the whole call, as a Python frame does.
  /// Throws std::invalid_argument for the wrong number or kind of inputs.
  virtual Value forward(const std::vector<Value>& inputs) = 0;

  /// The forward pass of a module from one tensor to one.
  Tensor forward(const Tensor& input);

  /// The forward pass with the module's hooks around it: how a module calls another one. Throws
  /// std::invalid_argument for one that is nested too deep.
  Value call(const std::vector<Value>& inputs);
  Tensor call(const Tensor& input);

  /// The same module with its own lists: parameters, buffers and children are shared until they
  /// are replaced. What DataParallel makes its replicas from.
  virtual ModulePtr shallow_copy() const = 0;

  const std::vector<NamedTensor>& own_parameters() const { return parameters_.entries(); }
  const std::vector<NamedTensor>& own_buffers() const { return buffers_.entries(); }
  const std::vector<NamedModule>& children() const { return children_.entries(); }
  /// The place in the list of that name's; nullopt: there is none.
  std::optional<std::size_t> find_own_parameter(std::string_view name) const {
    return parameters_.find(name);
  }
  std::optional<std::size_t> find_own_buffer(std::string_view name) const {
    return buffers_.find(name);
  }
  std::optional<std::size_t> find_child(std::string_view name) const {
    return children_.find(name);
  }
  /// The i-th of the parameters that the layer was made with, wherever its value is now.
  const Tensor& own_parameter(std::size_t i) const {
    return slots_.empty() ? own_parameters()[i].tensor : parameter_in_slot(i);
  }
  const std::vector<ComputedParameter>& computed_parameters() const { return computed_; }
  /// Computes the parameters that are kept anew, as each call does at its beginning.
  void recompute_parameters();
  void set_own_parameter(std::size_t i, Tensor tensor) {
    parameters_.entries()[i].tensor = std::move(tensor);
  }
  void set_own_buffer(std::size_t i, Tensor tensor) {
    buffers_.entries()[i].tensor = std::move(tensor);
  }
  /// Throws std::invalid_argument where the module would come to contain itself.
  void set_child(std::size_t i, ModulePtr module);

  /// Null: there are none. Copies of the module share them.
  const std::shared_ptr<ForwardHooks>& hooks() const { return hooks_; }
  void set_hooks(std::shared_ptr<ForwardHooks> hooks) { hooks_ = std::move(hooks); }

  /// Changes an option that the module was made with; false where it was read once and for all.
  /// Throws std::invalid_argument for a value that cannot be.
  virtual bool set_option(std::string_view /*name*/, const Value& /*value*/) { return false; }

  /// Copied with the module, and without meaning to the runtime.
  std::vector<NamedAttribute>& attributes() { return attributes_; }

  /// Those of this module and of all below it, depth first in order of registration; a tensor that
  /// stands in several places is listed once.
  std::vector<NamedTensor> named_parameters() const;
  std::vector<NamedTensor> named_buffers() const;
  std::vector<Tensor> parameters() const;

  /// Moves and casts in place: parameter by parameter, each old one freed before the next is
  /// made. Integer buffers keep their dtype. Gradients move along. `format` is for tensors of four
  /// and five dimensions; throws std::invalid_argument for channels last of five.
  void move_to(std::optional<Device> device, std::optional<DType> dtype,
               std::optional<MemoryFormat> format = std::nullopt);

  void set_training(bool is_training);
  bool is_training() const { return is_training_; }
  void set_requires_grad(bool requires_grad);
  /// Drops all gradients, or fills them with zeros.
  void zero_grad(bool set_to_none);

 protected:
  /// A copy is not a child of what contains the other.
  Module(const Module& other);

  /// Registers; an undefined tensor is a parameter that is left out (a layer without bias).
  void add_parameter(std::string name, Tensor tensor);
  void add_buffer(std::string name, Tensor tensor);
  /// Throws std::invalid_argument where the module would come to contain itself.
  void add_child(std::string name, ModulePtr module);

  /// Lets the parameters go from the last to the first, as a list of them does; a module goes from
  /// the first to the last of its own accord.
  void drop_parameters_from_the_last();

  const Tensor& own_buffer(std::size_t i) const { return own_buffers()[i].tensor; }

  /// Called when move_to() has moved the module's own tensors.
  virtual void after_move() {}

 private:
  friend class ModuleEditor;
  class ComputedForCall;

  void refuse_cycle(std::string_view name, const Module& child) const;
  Value call_with_hooks(const std::vector<Value>& inputs);
  const Tensor& parameter_in_slot(std::size_t i) const;
  const Tensor* find_kept_parameter(std::string_view name) const;
  void set_attribute_tensor(const std::string& name, Tensor tensor);

  NamedList<NamedTensor> parameters_;
  NamedList<NamedTensor> buffers_;
  NamedList<NamedModule> children_;
  std::vector<NamedAttribute> attributes_;
  std::shared_ptr<ForwardHooks> hooks_;
  // The names of the parameters that the layer was made with, once one of them was replaced.
  std::vector<std::string> slots_;
  std::vector<ComputedParameter> computed_;
  bool is_training_ = true;
  // Was a child of some module at some time. One that never was is contained in nothing, so that
  // building a model from its leaves upwards needs no search.
  bool was_child_ = false;
};

/// Moves a parameter or buffer to a device; it stays the same object.
void move_data(const Tensor& tensor, Device device);

/// The only input, which must be a tensor. Throws std::invalid_argument naming the module.
const Tensor& single_tensor(const std::vector<Value>& inputs, std::string_view module);

/// A module whose copy is a copy of its fields.
template <class Derived>
class CopyableModule : public Module {
 public:
  ModulePtr shallow_copy() const override {
    return std::make_shared<Derived>(static_cast<const Derived&>(*this));
  }
};

/// A module from one tensor to one.
template <class Derived>
class UnaryModule : public CopyableModule<Derived> {
 public:
  using Module::forward;
  Value forward(const std::vector<Value>& inputs) final {
    return apply(single_tensor(inputs, this->type_name()));
  }

 protected:
  virtual Tensor apply(const Tensor& input) = 0;
};

}  // namespace ohm::nn
