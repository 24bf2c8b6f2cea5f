// Views by their strides. Errors: std::invalid_argument naming op and shapes.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// What lies in the storage of `input` at these strides, from `storage_offset` on (none: where
/// `input` begins), in elements. Elements may be one in memory; their gradients are summed up.
Tensor as_strided(const Tensor& input, const Shape& size, const Shape& stride,
                  std::optional<std::int64_t> storage_offset);

std::vector<OpDef> restrided_ops();

}  // namespace ohm::ops
