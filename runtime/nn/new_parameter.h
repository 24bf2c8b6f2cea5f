// New parameters and buffers of layers.
#pragma once

#include <optional>

#include "runtime/tensor/tensor.h"

namespace ohm::nn {

/// Where and as what a layer makes its parameters.
struct ParameterOptions {
  Device device;
  DType dtype = DType::float32;
};
ParameterOptions parameter_options(std::optional<Device> device, std::optional<DType> dtype);

/// A new leaf that requires a gradient, of category parameter: uniform in [-bound, bound).
Tensor uniform_parameter(const Shape& shape, double bound, const ParameterOptions& options);
/// The same, every element `value`.
Tensor constant_parameter(const Shape& shape, double value, const ParameterOptions& options);
/// A tensor that belongs to a module without being trained.
Tensor constant_buffer(const Shape& shape, double value, Device device, DType dtype);

}  // namespace ohm::nn
