// Elements put in other places: mirrored, shifted, repeated, padded, cut to triangles. Each makes
// one new tensor; nothing is saved.
#pragma once

#include <string>
#include <vector>

#include "runtime/base/dim_mask.h"
#include "runtime/ops/op.h"

namespace ohm::ops {

Tensor flip(const Tensor& input, const Shape& dims);
/// The kernel of flip alone, which nothing records.
Tensor flipped(const Tensor& input, DimMask mirrored);
/// Element i goes to i + shift, around the end; one shift for each of `dims`, or for the flattened
/// tensor when there is none.
Tensor roll(const Tensor& input, const Shape& shifts, const std::optional<Shape>& dims);
/// The part of the last two dimensions on and above (below) a diagonal; zeros elsewhere.
Tensor triu(const Tensor& input, std::int64_t diagonal);
Tensor tril(const Tensor& input, std::int64_t diagonal);
/// The tensor `repeats[d]` times along dimension d; leading dimensions may be new.
Tensor repeat(const Tensor& input, const Shape& repeats);
/// `pad`: elements before and after the last dimension, then before and after the one before it, …;
/// negative ones cut off. Mode "constant" takes `value` for them, the others (edge_padding.h) what
/// the input has elsewhere.
Tensor pad(const Tensor& input, const Shape& pad, const std::string& mode, double value);

std::vector<OpDef> rearrange_ops();

}  // namespace ohm::ops
