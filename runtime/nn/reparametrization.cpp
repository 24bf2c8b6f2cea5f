#include "runtime/nn/reparametrization.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace ohm::nn {

void ModuleEditor::add_parameter(std::string name, Tensor tensor) {
  module_.add_parameter(std::move(name), std::move(tensor));
}

void ModuleEditor::add_buffer(std::string name, Tensor tensor) {
  module_.add_buffer(std::move(name), std::move(tensor));
}

void ModuleEditor::add_child(std::string name, ModulePtr child) {
  module_.add_child(std::move(name), std::move(child));
}

Tensor ModuleEditor::take_parameter(std::string_view name) {
  Tensor tensor = require_parameter(module_, name);
  if (module_.slots_.empty()) {
    for (const NamedTensor& entry : module_.own_parameters()) module_.slots_.push_back(entry.name);
  }
  module_.parameters_.erase(*module_.find_own_parameter(name));
  return tensor;
}

Tensor ModuleEditor::take_buffer(std::string_view name) {
  Tensor tensor = require_buffer(module_, name);
  module_.buffers_.erase(*module_.find_own_buffer(name));
  return tensor;
}

void ModuleEditor::keep(const std::string& name, Tensor tensor) {
  module_.set_attribute_tensor(name, std::move(tensor));
}

void ModuleEditor::drop_kept(std::string_view name) {
  std::vector<NamedAttribute>& attributes = module_.attributes();
  attributes.erase(std::remove_if(attributes.begin(), attributes.end(),
                                  [&](const NamedAttribute& entry) { return entry.name == name; }),
                   attributes.end());
}

void ModuleEditor::compute(std::shared_ptr<const Reparametrization> how) {
  std::string name = how->parameter();
  module_.computed_.push_back({std::move(name), std::move(how), Tensor()});
}

void ModuleEditor::stop_computing(const Reparametrization& how) {
  std::vector<ComputedParameter>& computed = module_.computed_;
  computed.erase(
      std::remove_if(computed.begin(), computed.end(),
                     [&](const ComputedParameter& one) { return one.how.get() == &how; }),
      computed.end());
}

const ComputedParameter* find_computed(const Module& module, std::string_view name) {
  for (const ComputedParameter& computed : module.computed_parameters()) {
    if (computed.name == name) return &computed;
  }
  return nullptr;
}

const Tensor& require_parameter(const Module& module, std::string_view name) {
  const auto parameter = module.find_own_parameter(name);
  if (parameter && module.own_parameters()[*parameter].tensor.defined()) {
    return module.own_parameters()[*parameter].tensor;
  }
  throw std::invalid_argument(fmt::format("[{}] has no parameter '{}'", module.type_name(), name));
}

const Tensor& require_buffer(const Module& module, std::string_view name) {
  const auto buffer = module.find_own_buffer(name);
  if (buffer && module.own_buffers()[*buffer].tensor.defined()) {
    return module.own_buffers()[*buffer].tensor;
  }
  throw std::invalid_argument(fmt::format("[{}] has no buffer '{}'", module.type_name(), name));
}

bool is_transposed_convolution(const Module& module) {
  return module.type_name().starts_with("ConvTranspose");
}

ModulePtr add_parametrization(Module& module, const std::string& name,
                              const ModulePtr& parametrization) {
  auto list = std::make_shared<PartsModule>("ParametrizationList");
  ModuleEditor(*list).add_child("0", parametrization);
  ModulePtr lists;
  if (const auto known = module.find_child("parametrizations")) {
    lists = module.children()[*known].module;
  } else {
    lists = std::make_shared<PartsModule>("ModuleDict");
    ModuleEditor(module).add_child("parametrizations", lists);
  }
  ModuleEditor(*lists).add_child(name, list);
  return list;
}

Module& parametrization_of(const Module& module, std::string_view name) {
  const Module& lists = *module.children()[*module.find_child("parametrizations")].module;
  return *lists.children()[*lists.find_child(name)].module;
}

Value PartsModule::forward(const std::vector<Value>& /*inputs*/) {
  throw std::invalid_argument(
      fmt::format("[{}] is called by the module that it belongs to", type_name()));
}

}  // namespace ohm::nn
