#include "runtime/ops/cuda/extremum.h"

#include <vector>

#include "runtime/kernels/functors/reduce_split_more.h"
#include "runtime/kernels/launch/split_reduction.h"

namespace ohm::ops {

bool are_found_on_card(const Extrema& extrema) {
  const CardFold fold(extrema.input, extrema.folded, extrema.count());
  const auto run = [&](const formulas::Fold& lines_of, const LineShape& lines,
                       const LineArguments& arguments) {
    return are_lines_done_on_card(formulas::FoldedExtremum{extrema.wants_largest, lines_of},
                                  DType::float64, lines, arguments);
  };
  const std::vector<LineArgument> results{extrema.values, extrema.places};
  return fold_on_card(
      extrema.input, fold, 2,
      [&] {
        return run(fold.whole(), fold.whole_lines(), {results, {extrema.input}});
      },
      [&](const PartialResults& partials) {
        return run(fold.in_pieces(), fold.piece_lines(),
                   {{partials.array(0, DType::float64), partials.array(1, DType::int64)},
                    {extrema.input}});
      },
      [&](const PartialResults& partials) {
        return run(fold.of_partials(), fold.partial_lines(),
                   {results, {partials.array(0, DType::float64), partials.array(1, DType::int64)}});
      });
}

}  // namespace ohm::ops
