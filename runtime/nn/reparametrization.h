// Parameters that are computed of others before they are used: weight and spectral normalisation.
//
// The layer's own parameter goes, its parts come, and the layer finds what is computed where it
// finds its parameter: Module::own_parameter().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/nn/module.h"

namespace ohm::nn {

/// Changes the parts of a module that is there.
class ModuleEditor {
 public:
  explicit ModuleEditor(Module& module) : module_(module) {}

  void add_parameter(std::string name, Tensor tensor);
  void add_buffer(std::string name, Tensor tensor);
  void add_child(std::string name, ModulePtr child);
  /// Takes the parameter of that name away. Throws std::invalid_argument where there is none.
  Tensor take_parameter(std::string_view name);
  Tensor take_buffer(std::string_view name);
  /// An attribute of the module.
  void keep(const std::string& name, Tensor tensor);
  void drop_kept(std::string_view name);
  /// Computes the parameter of that name from now on, or no longer.
  void compute(std::shared_ptr<const Reparametrization> how);
  void stop_computing(const Reparametrization& how);

 private:
  Module& module_;
};

/// The module's computed parameter of that name; nullptr: there is none.
const ComputedParameter* find_computed(const Module& module, std::string_view name);

/// The parameter or the buffer of that name. Throws std::invalid_argument where there is none.
const Tensor& require_parameter(const Module& module, std::string_view name);
const Tensor& require_buffer(const Module& module, std::string_view name);

/// Whether it has the weight of a transposed convolution, whose second dimension is the outputs'.
bool is_transposed_convolution(const Module& module);

/// The module `parametrizations.<name>` of a new parametrization, with `parametrization` as its
/// child "0"; it gets the originals. Pre-condition: there is none yet.
ModulePtr add_parametrization(Module& module, const std::string& name,
                              const ModulePtr& parametrization);
/// That module. Pre-condition: there is one.
Module& parametrization_of(const Module& module, std::string_view name);

/// A module of parts that others compute with.
class PartsModule final : public CopyableModule<PartsModule> {
 public:
  explicit PartsModule(std::string_view type_name) : type_name_(type_name) {}
  std::string_view type_name() const override { return type_name_; }
  using Module::forward;
  /// Throws std::invalid_argument: it cannot be called.
  Value forward(const std::vector<Value>& inputs) override;

 private:
  std::string_view type_name_;
};

}  // namespace ohm::nn
