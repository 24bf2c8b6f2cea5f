// Reductions as functors of rows: see functors/reduce_rows.h.
#pragma once

#include "runtime/base/dim_mask.h"
#include "runtime/kernels/functors/reduce_rows.h"
#include "runtime/kernels/launch/row_loops.h"

namespace ohm {

inline functors::ReducedRows reduced_rows_of(const Tensor& input, DimMask folded) {
  return {strided_index_of(input, folded, false), strided_index_of(input, folded, true)};
}

/// A row for each element of `out`, of the elements that are folded into it.
inline RowShape rows_reduced(const Tensor& out, const Tensor& input,
                             const functors::ReducedRows& folding) {
  RowShape rows{out.numel(), out.numel() == 0 ? 0 : input.numel() / out.numel()};
  const functors::StridedIndex& folded = folding.folded;
  if (folded.dims > 0) rows.inner = folded.strides[folded.dims - 1];
  return rows;
}

/// Folds `input` into `out`, a new tensor, in double. Pre-condition: they have values.
template <class Functor>
void reduce_rows_into(const Tensor& out, const Tensor& input, const Functor& functor) {
  run_floating_rows(functor, DType::float64, rows_reduced(out, input, functor.input),
                    {{out}, {input}});
}

}  // namespace ohm
