#include "runtime/nn/linear.h"
#include "runtime/nn/new_parameter.h"
#include "runtime/ops/matmul/linear.h"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>

namespace ohm::nn {

Linear::Linear(std::int64_t in_features, std::int64_t out_features, bool has_bias,
               const ParameterOptions& options) {
  if (in_features <= 0 || out_features <= 0) {
    throw std::invalid_argument(fmt::format("[Linear] features must be positive, not {} and {}",
                                            in_features, out_features));
  }
  const double bound = 1.0 / std::sqrt(static_cast<double>(in_features));
  add_parameter("weight", uniform_parameter({out_features, in_features}, bound, options));
  add_parameter("bias", has_bias ? uniform_parameter({out_features}, bound, options) : Tensor());
}

Tensor Linear::apply(const Tensor& input) {
  const Tensor& bias = own_parameter(1);
  return ops::linear(input, own_parameter(0),
                     bias.defined() ? std::optional<Tensor>(bias) : std::nullopt);
}

}  // namespace ohm::nn
