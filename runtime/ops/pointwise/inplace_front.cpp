#include "runtime/ops/pointwise/inplace_front.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/ops/pointwise/binary_kernel.h"

namespace ohm::ops {

void require_writable(const OpInfo& info, const Tensor& input, const TensorOrNumber& other,
                      DType result) {
  if (const Tensor* tensor = std::get_if<Tensor>(&other)) {
    require_same_device(input, *tensor, info);
    if (!(broadcast_shapes(input.shape(), tensor->shape(), info.name.data()) == input.shape())) {
      throw std::invalid_argument(
          fmt::format("[{}] output with shape {} doesn't match the broadcast shape of {}",
                      info.name, input.shape().str(), tensor->shape().str()));
    }
    require_no_partial_overlap(input, *tensor, info.name);
  }
  const bool loses_fractions = is_floating(result) && !is_differentiable(input.dtype());
  const bool loses_numbers = input.dtype() == DType::boolean && result != DType::boolean;
  if (loses_fractions || loses_numbers) {
    throw std::invalid_argument(fmt::format("[{}] result type {} can't be cast to the output's {}",
                                            info.name, name_of(result), name_of(input.dtype())));
  }
}

}  // namespace ohm::ops
