// Sequences of several lengths without padding: PyTorch's nested tensors, as its encoder makes
// them.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

struct NestedRows {
  Tensor rows;                        ///< [Σ lengths, E]: one sequence behind the other
  std::vector<std::int64_t> lengths;  ///< of each
};

/// What padded [B, T, E] has at the beginning of each row, without a graph. A kernel of float32 and
/// float16 takes the sizes from a temporary on the device; other dtypes are selected by a mask of
/// the padded shape.
NestedRows nested_from_padded(const Tensor& padded, const std::vector<std::int64_t>& lengths);
/// The same of padded [B, heads, T, E/heads].
NestedRows nested_from_padded_heads(const Tensor& padded, const std::vector<std::int64_t>& lengths);

/// With zeros behind each sequence: [B, T, E]. bfloat16 is padded sequence by sequence.
Tensor to_padded(const NestedRows& nested, std::int64_t length);

}  // namespace ohm::ops
