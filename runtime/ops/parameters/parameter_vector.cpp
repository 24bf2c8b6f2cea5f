#include "runtime/ops/parameters/parameter_vector.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/tensor_data.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kToVector{"parameters_to_vector"};
constexpr OpInfo kToParameters{"vector_to_parameters"};

// As rows call it: an op returns a value, here none.
Value to_parameters_row(const Tensor& vec, const std::vector<Tensor>& parameters) {
  vector_to_parameters(vec, parameters);
  return {};
}

}  // namespace

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  const OpFront front(kToVector);
  std::vector<Tensor> lines;
  for (const Tensor& parameter : parameters) lines.push_back(view(parameter, {-1}));
  return cat(lines, 0);
}

void vector_to_parameters(const Tensor& vec, const std::vector<Tensor>& parameters) {
  const OpFront front(kToParameters);
  const NoGradGuard no_grad;
  std::int64_t first = 0;
  for (const Tensor& parameter : parameters) {
    if (vec.dims() != 1 || vec.dtype() != parameter.dtype() || vec.device() != parameter.device() ||
        first + parameter.numel() > vec.numel()) {
      throw std::invalid_argument(fmt::format(
          "[vector_to_parameters] a vector {} has no {} elements of the parameters' dtype and "
          "device behind {}",
          vec.shape().str(), parameter.numel(), first));
    }
    set_data(parameter, view(narrow(vec, 0, first, parameter.numel()), parameter.shape()));
    first += parameter.numel();
  }
}

std::vector<OpDef> parameter_vector_ops() {
  return {
      define(kToVector, kUtility, &parameters_to_vector, {"parameters"}),
      define(kToParameters, kUtility, &to_parameters_row, {"vec", "parameters"}),
  };
}

}  // namespace ohm::ops
