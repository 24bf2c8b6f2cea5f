#include "runtime/ops/pointwise/division_rules.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/pointwise/binary_kernel.h"

namespace ohm::ops {

void require_divisible(const OpInfo& info, const TensorOrNumber& divisor, DType dtype) {
  if (is_floating(dtype)) return;
  const Tensor* const tensor = std::get_if<Tensor>(&divisor);
  bool has_zero = tensor == nullptr && number_of(divisor) == 0.0;
  if (tensor != nullptr && tensor->device().is_cpu() && tensor->has_values()) {
    const std::vector<std::int64_t> divisors = to_integers(*tensor);
    has_zero = std::find(divisors.begin(), divisors.end(), 0) != divisors.end();
  }
  if (has_zero) throw std::invalid_argument(fmt::format("[{}] ZeroDivisionError", info.name));
}

void forbid_booleans(DType dtype) {
  if (dtype != DType::boolean) return;
  throw std::invalid_argument("[remainder] \"remainder_cuda\" not implemented for 'Bool'");
}

}  // namespace ohm::ops
