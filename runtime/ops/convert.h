// Moving tensors between dtypes and devices.
#pragma once

#include <vector>

#include "runtime/ops/registry.h"

namespace ohm::ops {

/// The tensor itself when it has the dtype; else a copy with its layout. The gradient is cast back.
Tensor to_dtype(const Tensor& input, DType dtype);
/// The tensor itself when it is there; else a row-major copy. The gradient is copied back.
Tensor to_device(const Tensor& input, Device device);
/// Both: device first when it shrinks nothing, so that one copy is made.
Tensor to(const Tensor& input, std::optional<Device> device, std::optional<DType> dtype);
/// A copy of its own, in the graph.
Tensor clone(const Tensor& input);
/// The tensor itself when row-major, else a row-major copy.
Tensor contiguous(const Tensor& input);
/// Writes `source` into `input`; the gradient goes to `source`.
Tensor copy_(const Tensor& input, const Tensor& source);

std::vector<OpDef> convert_ops();

}  // namespace ohm::ops
