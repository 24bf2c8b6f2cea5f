#include "runtime/ops/pointwise/binary_kernel.h"

#include <cmath>

namespace ohm::ops {
namespace {

bool is_cpu_scalar(const Tensor& tensor) { return tensor.dims() == 0 && tensor.device().is_cpu(); }

// A 0-dim tensor only decides when it is of a higher kind (floating over integer over bool).
int kind_of(DType dtype) {
  if (is_floating(dtype)) return 2;
  return dtype == DType::boolean ? 0 : 1;
}

}  // namespace

DType promoted_dtype(std::initializer_list<const Tensor*> operands) {
  std::optional<DType> tensor;
  std::optional<DType> number;
  for (const Tensor* operand : operands) {
    std::optional<DType>& widest = operand->dims() == 0 ? number : tensor;
    widest = widest ? promote_types(*widest, operand->dtype()) : operand->dtype();
  }
  if (!tensor || !number) return tensor ? *tensor : number.value();
  return kind_of(*number) > kind_of(*tensor) ? promote_types(*tensor, *number) : *tensor;
}

bool can_hold(DType target, DType dtype) { return kind_of(target) >= kind_of(dtype); }

const Tensor& tensor_of(const TensorOrNumber& operand) {
  static const Tensor none;
  const Tensor* tensor = std::get_if<Tensor>(&operand);
  return tensor == nullptr ? none : *tensor;
}

DType result_dtype(const Tensor& input, const TensorOrNumber& other) {
  if (const Tensor* tensor = std::get_if<Tensor>(&other)) return promoted_dtype({&input, tensor});
  if (is_differentiable(input.dtype())) return input.dtype();
  if (!std::get<Number>(other).is_integer) return DType::float32;
  return input.dtype() == DType::boolean ? DType::int64 : input.dtype();
}

void require_same_device(const Tensor& a, const Tensor& b, const OpInfo& info) {
  if (!is_cpu_scalar(a) && !is_cpu_scalar(b)) require_one_device(a, b, info);
}

void require_one_device(const Tensor& a, const Tensor& b, const OpInfo& info) {
  if (a.device() == b.device()) return;
  throw std::invalid_argument(
      fmt::format("[{}] Expected all tensors to be on the same device, but found at least two "
                  "devices, {} and {}!",
                  info.name, a.device().str(), b.device().str()));
}

void require_alike(const OpInfo& info, const Tensor& a, const Tensor& b) {
  require_same_device(a, b, info);
  require_floating(a, info);
  if (a.dtype() == b.dtype()) return;
  throw std::invalid_argument(
      fmt::format("[{}] expected both operands to have the same dtype, but got {} and {}",
                  info.name, name_of(a.dtype()), name_of(b.dtype())));
}

Tensor empty_for(const Tensor& input, const TensorOrNumber& other, DType dtype,
                 const OpInfo& info) {
  const Tensor* tensor = std::get_if<Tensor>(&other);
  if (tensor == nullptr) {
    return empty_for_loop(input.shape(), {&input, tensor}, {dtype, input.device()});
  }
  require_same_device(input, *tensor, info);
  const Shape shape = broadcast_shapes(input.shape(), tensor->shape(), info.name.data());
  const Device device = is_cpu_scalar(input) ? tensor->device() : input.device();
  return empty_for_loop(shape, {&input, tensor}, {dtype, device});
}

}  // namespace ohm::ops
