// Places of values: in sorted rows, and among a few others. No gradients.
// Errors: std::invalid_argument naming op and shapes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Where each value of `input` would stand in the sorted row of the same place, or in the one row
/// that there is: before equal ones, or with `right` (or side "right") behind them. int64, or int32
/// where asked.
Tensor searchsorted(const Tensor& sorted_sequence, const TensorOrNumber& input, bool out_int32,
                    bool right, const std::optional<std::string>& side);
/// The same the other way round, of one row of boundaries.
Tensor bucketize(const Tensor& input, const Tensor& boundaries, bool out_int32, bool right);
/// Whether each element is among others, which are compared one by one: they must be few, as those
/// that PyTorch compares so.
Tensor isin(const Tensor& elements, const TensorOrNumber& test_elements, bool assume_unique,
            bool invert);

std::vector<OpDef> searching_ops();

}  // namespace ohm::ops
