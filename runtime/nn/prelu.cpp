#include "runtime/nn/prelu.h"
#include "runtime/nn/new_parameter.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/ops/activation/piecewise.h"

namespace ohm::nn {

PRelu::PRelu(std::int64_t num_parameters, double init, const ParameterOptions& parameters) {
  if (num_parameters <= 0) {
    throw std::invalid_argument(
        fmt::format("[PReLU] num_parameters must be positive, not {}", num_parameters));
  }
  add_parameter("weight", constant_parameter({num_parameters}, init, parameters));
}

Tensor PRelu::apply(const Tensor& input) { return ops::prelu(input, own_parameter(0)); }

}  // namespace ohm::nn
