#include "runtime/nn/new_parameter.h"

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/variable.h"
#include "runtime/tensor/context.h"

namespace ohm::nn {

ParameterOptions parameter_options(std::optional<Device> device, std::optional<DType> dtype) {
  return {device.value_or(Device::cpu()), dtype.value_or(DType::float32)};
}

Tensor uniform_parameter(const Shape& shape, double bound, const ParameterOptions& options) {
  const CategoryGuard category(Category::parameter);
  Tensor tensor = empty(shape, {options.dtype, options.device});
  fill_uniform(tensor, -bound, bound);
  tensor.set_requires_grad(true);
  return tensor;
}

Tensor constant_parameter(const Shape& shape, double value, const ParameterOptions& options) {
  Tensor tensor = constant_buffer(shape, value, options.device, options.dtype);
  tensor.set_requires_grad(true);
  return tensor;
}

Tensor constant_buffer(const Shape& shape, double value, Device device, DType dtype) {
  const CategoryGuard category(Category::parameter);
  Tensor tensor = empty(shape, {dtype, device});
  fill_values(tensor, value);
  return tensor;
}

}  // namespace ohm::nn
