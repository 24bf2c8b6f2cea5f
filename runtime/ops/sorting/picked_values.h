// Values that max, min, sort and topk pick from an input along a dimension, and their gradient.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/ops/op_info.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Values and where they stand along a dimension (int64).
using ValuesAndIndices = std::pair<Tensor, Tensor>;
/// Both, as a script gets them.
inline std::vector<Tensor> as_list(const ValuesAndIndices& pair) {
  return {pair.first, pair.second};
}

/// The dimension that values are picked along, counted from 0. Throws std::invalid_argument for a
/// tensor without dimensions, and for a dimension without elements.
int picked_dim(const OpInfo& info, const Tensor& input, std::int64_t dim);

/// Throws std::invalid_argument for a tensor of booleans.
void refuse_bool(const OpInfo& info, const Tensor& input);

/// Records the node `node` of what was picked: the gradient of each value goes to where it came
/// from. Saves the indices.
void record_pick(std::string_view node, const Tensor& input, const ValuesAndIndices& out, int dim);

/// Zeros of the input's shape with each value's gradient where it came from along `dim`, which
/// `grad` and `indices` may have lost. Recorded under create_graph: its own gradient is what stands
/// at the picked places.
Tensor picked_gradient(const Tensor& grad, const Tensor& indices, const Shape& shape, int dim);

}  // namespace ohm::ops
