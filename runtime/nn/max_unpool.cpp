#include "runtime/nn/max_unpool.h"

#include <fmt/core.h>

#include <stdexcept>

namespace ohm::nn {

Value MaxUnpool::forward(const std::vector<Value>& inputs) {
  const std::size_t count = inputs.size();
  const bool are_tensors = count >= 2 && count <= 3 && std::holds_alternative<Tensor>(inputs[0]) &&
                           std::holds_alternative<Tensor>(inputs[1]);
  const Value output_size = count == 3 ? inputs[2] : Value();
  const bool has_size = std::holds_alternative<Shape>(output_size);
  if (!are_tensors || (!has_size && !std::holds_alternative<std::monostate>(output_size))) {
    throw std::invalid_argument(
        fmt::format("[{}] takes two tensors, input and indices, and an output_size", name_));
  }
  std::vector<Value> arguments = {inputs[0], inputs[1]};
  arguments.insert(arguments.end(), options_.begin(), options_.end());
  arguments.push_back(output_size);
  return op_->call(arguments);
}

}  // namespace ohm::nn
