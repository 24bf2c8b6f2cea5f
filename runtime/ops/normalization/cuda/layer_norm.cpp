#include "runtime/ops/normalization/cuda/layer_norm.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/arithmetic/reduce.h"
#include "runtime/kernels/functors/rows.h"
#include "runtime/kernels/launch/split_reduction.h"

namespace ohm::ops {
namespace {

// Over all rows, in pieces of them: there may be few columns.
bool are_columns_summed(const RowShape& rows, const Tensor& grad,
                        const std::vector<RowArgument>& in, const LayerGradients& out) {
  const Shape sizes{rows.count, rows.size};
  const Tensor matrix = make_view(grad, sizes, contiguous_strides(sizes), grad.impl()->offset);
  const CudaReduction fold(matrix, with(0, 0), rows.size);
  const DType dtype = grad.dtype();
  const std::vector<Tensor> sums{out.weight, out.bias};
  return reduce_on_cuda(
      matrix, fold, 2,
      [&] {
        return are_rows_done_on_cuda(functors::LayerNormColumn{fold.whole()}, dtype,
                                     fold.whole_rows(), {{out.weight, out.bias}, in});
      },
      [&](const PartialResults& partials) {
        std::vector<RowArgument> pieces;
        for (int i = 0; i < 2; ++i) {
          const bool is_wanted = sums[static_cast<std::size_t>(i)].defined();
          pieces.emplace_back(is_wanted ? partials.array(i, DType::float64) : RowOperand());
        }
        return are_rows_done_on_cuda(functors::LayerNormColumn{fold.in_pieces()}, dtype,
                                     fold.piece_rows(), {pieces, in});
      },
      [&](const PartialResults& partials) {
        bool is_done = true;
        for (int i = 0; i < 2; ++i) {
          const Tensor& sum = sums[static_cast<std::size_t>(i)];
          if (!sum.defined()) continue;
          is_done = is_done && are_rows_done_on_cuda(functors::ReduceSum{1.0, fold.of_partials()},
                                                     DType::float64, fold.partial_rows(),
                                                     {{sum}, {partials.array(i, DType::float64)}});
        }
        return is_done;
      });
}

}  // namespace

bool are_rows_normalised_on_cuda(const RowShape& rows, const NormalisedInputs& in, double eps,
                                 const RowStatistics& statistics, const Tensor& out) {
  return is_row_major_or_undefined(in.weight) && is_row_major_or_undefined(in.bias) &&
         are_rows_done_on_cuda(
             functors::LayerNormRow{eps}, in.input.dtype(), rows,
             {{out, statistics.mean, statistics.rstd}, {in.input, in.weight, in.bias}});
}

// Every kernel that is needed is there, or none.
bool are_norm_gradients_done_on_cuda(const RowShape& rows, const Tensor& grad,
                                     const NormalisedInputs& in, const RowStatistics& statistics,
                                     const LayerGradients& out) {
  if (!is_row_major_or_undefined(in.weight)) return false;
  const std::vector<RowArgument> read{grad, in.input, statistics.mean, statistics.rstd};
  bool is_done = false;
  if (out.input.defined()) {
    std::vector<RowArgument> with_weight = read;
    with_weight.emplace_back(in.weight);
    is_done = are_rows_done_on_cuda(functors::LayerNormBackwardRow(), in.input.dtype(), rows,
                                    {{out.input}, with_weight});
    if (!is_done) return false;
  }
  if (out.weight.defined() || out.bias.defined()) {
    is_done = are_columns_summed(rows, grad, read, out);
  }
  return is_done;
}

}  // namespace ohm::ops
