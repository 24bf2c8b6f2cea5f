// Tensors and copies of them with a part written over: entries of a dimension, or a diagonal.
// Errors: std::invalid_argument naming op and shapes.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// A copy of `input`, its storage's gaps with it, with `src` where slice(), select() or diagonal()
/// of the same arguments would be: slice_scatter, select_scatter, diagonal_scatter. And
/// fill_diagonal_, a number over the diagonal from the first element on.
std::vector<OpDef> part_write_ops();

}  // namespace ohm::ops
