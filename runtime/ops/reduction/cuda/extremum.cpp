#include "runtime/ops/reduction/cuda/extremum.h"

#include <vector>

#include "runtime/kernels/functors/reduce_split.h"
#include "runtime/kernels/launch/split_reduction.h"

namespace ohm::ops {

bool are_found_on_cuda(const Extrema& extrema) {
  const CudaReduction fold(extrema.input, extrema.folded, extrema.count());
  const auto run = [&](const functors::SplitReduction& lines_of, const RowShape& rows,
                       const RowArguments& arguments) {
    return are_rows_done_on_cuda(functors::ReduceExtremum{extrema.wants_largest, lines_of},
                                 DType::float64, rows, arguments);
  };
  const std::vector<RowArgument> results{extrema.values, extrema.places};
  return reduce_on_cuda(
      extrema.input, fold, 2,
      [&] {
        return run(fold.whole(), fold.whole_rows(), {results, {extrema.input}});
      },
      [&](const PartialResults& partials) {
        return run(fold.in_pieces(), fold.piece_rows(),
                   {{partials.array(0, DType::float64), partials.array(1, DType::int64)},
                    {extrema.input}});
      },
      [&](const PartialResults& partials) {
        return run(fold.of_partials(), fold.partial_rows(),
                   {results, {partials.array(0, DType::float64), partials.array(1, DType::int64)}});
      });
}

}  // namespace ohm::ops
