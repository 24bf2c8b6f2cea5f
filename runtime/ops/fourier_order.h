// The order of frequencies: where a transform has which, and how to put the middle first.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Rolls each of `dim`, else every dimension, by half its size: frequency 0 comes into the middle,
/// and back from there. A new tensor.
Tensor fftshift(const Tensor& input, const std::optional<Shape>& dim);
Tensor ifftshift(const Tensor& input, const std::optional<Shape>& dim);

/// The frequencies of a transform of n elements, `d` apart, and those of its first half.
Tensor fftfreq(std::int64_t n, double d, std::optional<DType> dtype, std::optional<Device> device);
Tensor rfftfreq(std::int64_t n, double d, std::optional<DType> dtype, std::optional<Device> device);

std::vector<OpDef> fourier_order_ops();

}  // namespace ohm::ops
