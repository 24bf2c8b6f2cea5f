// The dimensions that a reduction folds, and the shapes that it leaves.
#pragma once

#include <cstdint>

#include "runtime/base/shape.h"

namespace ohm {

/// The dimensions that a reduction folds, as a bit mask: dimension d is bit d.
using DimMask = std::uint32_t;

constexpr bool contains(DimMask mask, int dim) {
  return ((mask >> static_cast<unsigned>(dim)) & 1U) != 0;
}
constexpr DimMask with(DimMask mask, int dim) { return mask | (1U << static_cast<unsigned>(dim)); }
/// All dimensions of a tensor of `dims`.
constexpr DimMask all_dims(int dims) { return (1U << static_cast<unsigned>(dims)) - 1U; }

/// The shape that is left: folded dimensions are 1 when kept, absent when not.
Shape reduced_shape(const Shape& shape, DimMask folded, bool keep_dims);

/// Strides over a result of shape `reduced_shape(shape, folded, true)` that walk it while its
/// input is walked: 0 along what is folded.
Shape reduced_strides(const Shape& shape, DimMask folded);

}  // namespace ohm
