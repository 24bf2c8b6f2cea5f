// Pooling by powers: the p-norm of each window.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// (Σ xᵖ)^(1/p) over each window, put together of a mean and elementwise ops, as in PyTorch: sizes
/// as in sequence.h, average_pool.h and average_pool_volumes.h. A missing stride is the window's
/// size.
Tensor lp_pool1d(const Tensor& input, double norm_type, std::int64_t kernel_size,
                 std::optional<std::int64_t> stride, bool ceil_mode);
Tensor lp_pool2d(const Tensor& input, double norm_type, const Shape& kernel_size,
                 const std::optional<Shape>& stride, bool ceil_mode);
Tensor lp_pool3d(const Tensor& input, double norm_type, const Shape& kernel_size,
                 const std::optional<Shape>& stride, bool ceil_mode);

std::vector<OpDef> power_pooling_ops();

}  // namespace ohm::ops
