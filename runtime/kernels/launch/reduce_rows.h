// Reductions as formulas of lines: see formulas/folds.h.
#pragma once

#include "runtime/base/dim_mask.h"
#include "runtime/kernels/functors/reduce_rows.h"
#include "runtime/kernels/launch/row_loops.h"

namespace ohm::ops {

inline formulas::Folding folding_of(const Tensor& input, DimMask folded) {
  return {walk_of(input, folded, false), walk_of(input, folded, true)};
}

/// A line for each element of `out`, of the elements that are folded into it.
inline LineShape lines_folded(const Tensor& out, const Tensor& input,
                              const formulas::Folding& folding) {
  LineShape lines{out.numel(), out.numel() == 0 ? 0 : input.numel() / out.numel()};
  const formulas::Walk& folded = folding.folded;
  if (folded.dims > 0) lines.inner = folded.strides[folded.dims - 1];
  return lines;
}

/// Folds `input` into `out`, a new tensor, in double. Pre-condition: they have values.
template <class Formula>
void fold_into(const Tensor& out, const Tensor& input, const Formula& formula) {
  run_floating_lines(formula, DType::float64, lines_folded(out, input, formula.input),
                     {{out}, {input}});
}

}  // namespace ohm::ops
