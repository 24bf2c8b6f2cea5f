// The sizes of sliding windows as arguments of pooling, and what must fit.
#pragma once

#include <optional>
#include <vector>

#include "runtime/base/shape.h"
#include "runtime/kernels/functors/pooling.h"
#include "runtime/ops/op_info.h"

namespace ohm::ops {

/// One size for all dimensions, or one for each. A missing stride is the kernel's size.
struct PoolSizes {
  const Shape& kernel;
  const std::optional<Shape>& stride;
  const Shape& padding;
  const Shape& dilation;
  bool ceil_mode;
};

/// Sets the windows of each dimension, of which the number of elements is known. Throws
/// std::invalid_argument where there are other sizes than one or one for each, or a window does not
/// fit.
void set_windows(const OpInfo& info, const PoolSizes& sizes,
                 const std::vector<functors::PoolAxis*>& axes);

}  // namespace ohm::ops
