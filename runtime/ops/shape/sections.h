// Parts of a tensor by number or by where they end, each a view of its own, and second names for
// dimensions: hsplit, vsplit, dsplit. Errors: std::invalid_argument naming op and shape.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// `sections` parts along `dim`, the first ones longer by one where they do not come out even; or
/// parts that end before each of `indices`, and the rest. One of the two must be given.
std::vector<Tensor> tensor_split(const Tensor& input, std::optional<std::int64_t> sections,
                                 std::int64_t dim, const std::optional<Shape>& indices);

std::vector<OpDef> section_ops();

}  // namespace ohm::ops
