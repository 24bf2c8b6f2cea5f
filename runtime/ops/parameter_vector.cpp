#include "runtime/ops/parameter_vector.h"

#include <fmt/format.h>

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/tensor_data.h"
#include "runtime/autograd/variable.h"
#include "runtime/ops/concat.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/slice.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kParametersToVector{"parameters_to_vector"};
constexpr OpInfo kVectorToParameters{"vector_to_parameters"};

void require_one_device(const OpInfo& info, const std::vector<Tensor>& parameters) {
  for (const Tensor& parameter : parameters) {
    if (parameter.device() == parameters[0].device()) continue;
    throw std::invalid_argument(
        fmt::format("[{}] Found two parameters on different devices, {} and {}: this is currently "
                    "not supported.",
                    info.name, parameters[0].device().str(), parameter.device().str()));
  }
}

}  // namespace

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  require_one_device(kParametersToVector, parameters);
  std::vector<Tensor> pieces;
  pieces.reserve(parameters.size());
  for (const Tensor& parameter : parameters) pieces.push_back(view(parameter, {-1}));
  return cat(pieces, 0);
}

void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters) {
  require_one_device(kVectorToParameters, parameters);
  std::int64_t begin = 0;
  for (const Tensor& parameter : parameters) {
    const std::int64_t count = parameter.numel();
    if (begin + count > vector.numel()) {
      throw std::invalid_argument(
          fmt::format("[{}] a vector of {} elements is too short for the parameters: the one of {} "
                      "begins at {}",
                      kVectorToParameters.name, vector.numel(), parameter.shape().str(), begin));
    }
    const Tensor piece = view(slice(vector, 0, begin, begin + count, 1), parameter.shape());
    set_data(parameter, detach(piece));
    begin += count;
  }
}

namespace {

// As rows call it: an op returns a value, here none.
Value vector_row(const Tensor& vector, const std::vector<Tensor>& parameters) {
  vector_to_parameters(vector, parameters);
  return {};
}

}  // namespace

std::vector<OpDef> parameter_vector_ops() {
  return {
      define(kParametersToVector, kUtility, &parameters_to_vector, {"parameters"},
             [] {
               const TensorOptions options{DType::float64, Device::cpu()};
               return std::vector<Sample>{
                   {std::vector<Tensor>{randn({2, 3}, options), randn({4}, options)}}};
             }),
      define(kVectorToParameters, kUtility, &vector_row, {"vec", "parameters"}),
  };
}

}  // namespace ohm::ops
