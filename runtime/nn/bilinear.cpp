#include "runtime/nn/bilinear.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/ops/bilinear.h"

namespace ohm::nn {

Bilinear::Bilinear(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features,
                   bool has_bias, const ParameterOptions& options) {
  if (in1_features <= 0 || in2_features <= 0 || out_features <= 0) {
    throw std::invalid_argument(fmt::format("[Bilinear] features must be positive, not {}, {}, {}",
                                            in1_features, in2_features, out_features));
  }
  const double bound = 1.0 / std::sqrt(static_cast<double>(in1_features));
  add_parameter("weight",
                uniform_parameter({out_features, in1_features, in2_features}, bound, options));
  add_parameter("bias", has_bias ? uniform_parameter({out_features}, bound, options) : Tensor());
}

Value Bilinear::forward(const std::vector<Value>& inputs) {
  const bool are_tensors = std::all_of(inputs.begin(), inputs.end(), [](const Value& input) {
    return std::holds_alternative<Tensor>(input);
  });
  if (inputs.size() != std::size(kInputNames) || !are_tensors) {
    throw std::invalid_argument("[Bilinear] takes two tensors");
  }
  return ops::bilinear(std::get<Tensor>(inputs[0]), std::get<Tensor>(inputs[1]), own_parameter(0),
                       if_defined(own_parameter(1)));
}

}  // namespace ohm::nn
