#include "runtime/nn/sequential.h"

#include <fmt/core.h>

#include <stdexcept>

namespace ohm::nn {

Sequential::Sequential(std::vector<ModulePtr> modules) {
  for (std::size_t i = 0; i < modules.size(); ++i) {
    add_child(std::to_string(i), std::move(modules[i]));
  }
}

Tensor Sequential::apply(const Tensor& input) {
  Tensor value = input;
  for (const NamedModule& child : children()) value = child.module->call(value);
  return value;
}

Value LossModule::forward(const std::vector<Value>& inputs) {
  if (inputs.size() != 2 || !std::holds_alternative<Tensor>(inputs[0]) ||
      !std::holds_alternative<Tensor>(inputs[1])) {
    throw std::invalid_argument(
        fmt::format("[{}] takes two tensors, a prediction and a target", type_name_));
  }
  return function_(std::get<Tensor>(inputs[0]), std::get<Tensor>(inputs[1]));
}

}  // namespace ohm::nn
