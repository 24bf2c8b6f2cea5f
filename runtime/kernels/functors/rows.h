// Functors of a row of elements, for nvcc and the host alike: see
// runtime/kernels/functors/functor_list.h. A team is what computes one row: a block of threads,
// one thread, or the host. It loads and stores elements, visits them (each), and knows what all of
// its members found together (sum, largest); what one member wrote another reads once they meet.
// Softmax, layer norm, batch norm, embeddings and attention have loops of their own on the host,
// for speed; tests hold both equal.

#pragma once

#include <cmath>
#include <limits>

#include "runtime/kernels/functors/element_run.h"
#include "runtime/kernels/functors/reduce_split.h"
#include "runtime/kernels/functors/row_launch.h"
#include "runtime/kernels/functors/strided_index.h"
#include "runtime/kernels/functors/two_sums.h"

namespace ohm::functors {

/// The row as it lies in an operand.
constexpr ElementRun run_of(const RowLaunch& launch, int operand, std::uint64_t row_index) {
  return {&launch.operands[operand], launch.start(row_index), launch.inner};
}

/// Operands: the result, x. All of the same rows.
struct SoftmaxRow {
  static constexpr const char* kKernel = "softmax_row";
  bool is_log;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const ElementRun x = run_of(launch, 1, row_index);
    const Compute largest = team.template largest_along<Compute>(
        launch.size, [](Compute value) { return value; }, x);
    const double sum = team.template sum_along<Compute>(
        launch.size, [&](Compute value) { return static_cast<double>(std::exp(value - largest)); },
        x);
    const auto scale = static_cast<Compute>(1.0 / sum);
    const auto log_sum = static_cast<Compute>(std::log(sum));
    team.template store_along<Compute>(
        launch.size, run_of(launch, 0, row_index),
        [&](Compute value) -> Compute {
          const Compute shifted = value - largest;
          return is_log ? shifted - log_sum : static_cast<Compute>(std::exp(shifted)) * scale;
        },
        x);
  }
};

/// Operands: the gradient of x, that of the result (times the result, where it is not a logarithm),
/// the result.
struct SoftmaxBackwardRow {
  static constexpr const char* kKernel = "softmax_backward_row";
  bool is_log;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const ElementRun grad = run_of(launch, 1, row_index);
    const auto total = static_cast<Compute>(team.template sum_along<Compute>(
        launch.size, [](Compute value) { return static_cast<double>(value); }, grad));
    team.template store_along<Compute>(
        launch.size, run_of(launch, 0, row_index),
        [&](Compute value, Compute result) -> Compute {
          const Compute weight = is_log ? static_cast<Compute>(std::exp(result)) : result;
          return value - weight * total;
        },
        grad, run_of(launch, 2, row_index));
  }
};

/// Operands: the result, the mean and 1/deviation of each row, x, weight and bias of a row's
/// elements or neither. Without a place for the mean, rows are normalised about zero: by the root
/// of their mean square.
struct LayerNormRow {
  static constexpr const char* kKernel = "layer_norm_row";
  double eps;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const auto length = static_cast<double>(launch.size);
    const ElementRun x = run_of(launch, 3, row_index);
    const bool is_centered = launch.operands[1].address != 0;
    const double mean =
        is_centered
            ? team.template sum_along<Compute>(
                  launch.size, [](Compute value) { return static_cast<double>(value); }, x) /
                  length
            : 0.0;
    const double squares = team.template sum_along<Compute>(
        launch.size,
        [&](Compute value) {
          const double distance = static_cast<double>(value) - mean;
          return distance * distance;
        },
        x);
    const auto center = static_cast<Compute>(mean);
    const auto inverse = static_cast<Compute>(1.0 / std::sqrt(squares / length + eps));
    team.once([&] {
      if (is_centered) team.store(launch.operands[1], number, center);
      team.store(launch.operands[2], number, inverse);
    });
    const ElementRun out = run_of(launch, 0, row_index);
    const ElementRun weight{&launch.operands[4], 0};
    const ElementRun bias{&launch.operands[5], 0};
    const bool has_weight = weight.operand->address != 0;
    const bool has_bias = bias.operand->address != 0;
    const auto store = [&](const auto& of, const auto&... runs) {
      team.template store_along<Compute>(launch.size, out, of, x, runs...);
    };
    if (has_weight && has_bias) {
      store([&](Compute value, Compute w,
                Compute b) -> Compute { return (value - center) * inverse * w + b; },
            weight, bias);
    } else if (has_weight) {
      store([&](Compute value, Compute w) -> Compute { return (value - center) * inverse * w; },
            weight);
    } else if (has_bias) {
      store([&](Compute value, Compute b) -> Compute { return (value - center) * inverse + b; },
            bias);
    } else {
      store([&](Compute value) -> Compute { return (value - center) * inverse; });
    }
  }
};

/// Operands: the gradient of x, that of the result, x, mean or none, 1/deviation, weight or none.
/// With x̂ the normalised row and h = grad · weight: (h − mean(h) − x̂ · mean(h·x̂)) / deviation;
/// without a mean there is no mean(h) either.
struct LayerNormBackwardRow {
  static constexpr const char* kKernel = "layer_norm_backward_row";

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const auto length = static_cast<double>(launch.size);
    const ElementRun grad = run_of(launch, 1, row_index);
    const ElementRun x = run_of(launch, 2, row_index);
    const ElementRun weight{&launch.operands[5], 0};
    const bool is_centered = launch.operands[3].address != 0;
    const Compute mean =
        is_centered ? team.template load<Compute>(launch.operands[3], number) : Compute(0);
    const Compute inverse = team.template load<Compute>(launch.operands[4], number);
    // use(of, runs…): of(x̂, h), whether there is a weight or not.
    const auto with_runs = [&](const auto& of, const auto& use) {
      if (weight.operand->address != 0) {
        return use([&](Compute g, Compute value,
                       Compute w) { return of((value - mean) * inverse, g * w); },
                   grad, x, weight);
      }
      return use([&](Compute g, Compute value) { return of((value - mean) * inverse, g); }, grad,
                 x);
    };
    const TwoSums sums = with_runs(
        [](Compute normalised, Compute h) {
          const auto wide = static_cast<double>(h);
          return TwoSums{wide, wide * static_cast<double>(normalised)};
        },
        [&](const auto& of, const auto&... runs) {
          return team.template two_sums_along<Compute>(launch.size, of, runs...);
        });
    const auto total = is_centered ? static_cast<Compute>(sums.first / length) : Compute(0);
    const auto slope = static_cast<Compute>(sums.second / length);
    with_runs([&](Compute normalised,
                  Compute h) -> Compute { return (h - total - normalised * slope) * inverse; },
              [&](const auto& of, const auto&... runs) {
                team.template store_along<Compute>(launch.size, run_of(launch, 0, row_index), of,
                                                   runs...);
              });
  }
};

/// Sums over rows: what is folded are the rows, the outputs are the columns. Operands: the sums for
/// weight and bias, by rows, either of which may be left out, the gradient of the result, x, mean
/// of each row or none, 1/deviation of each row.
struct LayerNormColumn {
  static constexpr const char* kKernel = "layer_norm_column";
  SplitReduction fold;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const SplitReduction::Piece piece = fold.piece(row_index);
    const auto column = [&](int operand) {
      return ElementRun{&launch.operands[operand], piece.first * fold.outputs + piece.output,
                        fold.outputs};
    };
    const auto of_rows = [&](int operand) {
      return ElementRun{&launch.operands[operand], piece.first};
    };
    const auto of = [](Compute grad, Compute x, Compute mean, Compute inverse) {
      return TwoSums{static_cast<double>(grad * ((x - mean) * inverse)), static_cast<double>(grad)};
    };
    const TwoSums sums = launch.operands[4].address != 0
                             ? team.template two_sums_along<Compute>(
                                   piece.size, of, column(2), column(3), of_rows(4), of_rows(5))
                             : team.template two_sums_along<Compute>(
                                   piece.size,
                                   [&](Compute grad, Compute x, Compute inverse) {
                                     return of(grad, x, Compute(0), inverse);
                                   },
                                   column(2), column(3), of_rows(5));
    team.once([&] {
      if (launch.operands[0].address != 0) team.store(launch.operands[0], number, sums.first);
      if (launch.operands[1].address != 0) team.store(launch.operands[1], number, sums.second);
    });
  }
};

/// The negative log-likelihood of one class for each target; classes are `positions` apart in the
/// scores of a sample.
struct ChosenClass {
  Divisor positions;
  std::int64_t ignored;  ///< a target that does not count; nor does one that is not a class
  std::int64_t classes;

  constexpr bool counts(std::int64_t index) const {
    return index != ignored && index >= 0 && index < classes;
  }
  constexpr std::int64_t place(std::int64_t i, std::int64_t index) const {
    return (i / positions * classes + index) * positions + i % positions;
  }
};

/// One row over all targets. Operands: the sum of the losses or their mean, the weights' sum, the
/// scores, the targets, a weight for each class or none.
struct ChosenLosses {
  static constexpr const char* kKernel = "chosen_losses";
  ChosenClass chosen;
  bool is_mean;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t /*row_index*/) const {
    const auto target = [&](std::int64_t i) {
      return team.template load<std::int64_t>(launch.operands[3], i);
    };
    const auto weight = [&](std::int64_t index) {
      if (!chosen.counts(index)) return 0.0;
      return launch.operands[4].address == 0
                 ? 1.0
                 : team.template load<double>(launch.operands[4], index);
    };
    const double losses = team.sum(launch.size, [&](std::int64_t i) {
      const std::int64_t index = target(i);
      if (!chosen.counts(index)) return 0.0;
      return -weight(index) *
             team.template load<double>(launch.operands[2], chosen.place(i, index));
    });
    const double weights = team.sum(launch.size, [&](std::int64_t i) { return weight(target(i)); });
    team.once([&] {
      team.store(launch.operands[0], 0, is_mean ? losses / weights : losses);
      team.store(launch.operands[1], 0, weights);
    });
  }
};

/// A row is a target. Operands: its loss, the scores, the targets, a weight for each class or
/// none.
struct ChosenLoss {
  static constexpr const char* kKernel = "chosen_loss";
  ChosenClass chosen;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto i = static_cast<std::int64_t>(row_index);
    const auto index = team.template load<std::int64_t>(launch.operands[2], i);
    double loss = 0.0;
    if (chosen.counts(index)) {
      const double weight = launch.operands[3].address == 0
                                ? 1.0
                                : team.template load<double>(launch.operands[3], index);
      loss = -weight * team.template load<double>(launch.operands[1], chosen.place(i, index));
    }
    team.once([&] { team.store(launch.operands[0], i, loss); });
  }
};

/// A row is a target, and one element of the gradient of the scores is written for it. Operands:
/// the gradient of the scores, that of the loss, the targets, a weight for each class or none, the
/// weights' sum or none.
struct ChosenBackward {
  static constexpr const char* kKernel = "chosen_backward";
  ChosenClass chosen;
  bool is_reduced;  ///< one gradient for all targets
  bool is_mean;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto i = static_cast<std::int64_t>(row_index);
    const auto index = team.template load<std::int64_t>(launch.operands[2], i);
    if (!chosen.counts(index)) return;
    const double weight = launch.operands[3].address == 0
                              ? 1.0
                              : team.template load<double>(launch.operands[3], index);
    const double grad = team.template load<double>(launch.operands[1], is_reduced ? 0 : i);
    const double divisor = is_mean ? team.template load<double>(launch.operands[4], 0) : 1.0;
    team.once(
        [&] { team.store(launch.operands[0], chosen.place(i, index), -weight * grad / divisor); });
  }
};

/// A row is one of sorted indices: the first of equal ones adds up their rows in their order, the
/// others do nothing. Operands: the sums, a row for each index, of which those without any stay as
/// they are; the indices; where each of them was; the rows, as the indices were.
struct ScatteredRow {
  static constexpr const char* kKernel = "scattered_row";
  std::int64_t count;    ///< of indices
  std::int64_t rows;     ///< of the sums
  std::int64_t ignored;  ///< an index that is left out; -1: none

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto first = static_cast<std::int64_t>(row_index);
    const auto index_at = [&](std::int64_t i) {
      return team.template load<std::int64_t>(launch.operands[1], i);
    };
    const std::int64_t index = index_at(first);
    if (index == ignored || index < 0 || index >= rows) return;
    if (first > 0 && index_at(first - 1) == index) return;
    team.each(launch.size, [&](std::int64_t column) {
      Compute sum = 0;
      for (std::int64_t i = first; i < count && index_at(i) == index; ++i) {
        const auto place = team.template load<std::int64_t>(launch.operands[2], i);
        if (place < 0 || place >= count) continue;
        sum += team.template load<Compute>(launch.operands[3], place * launch.size + column);
      }
      team.store(launch.operands[0], index * launch.size + column, sum);
    });
  }
};

/// Rows of the same memory, the last one shorter. Operands: a flag that is set to 1 where any
/// element is infinite or none, the elements.
struct NonFinite {
  static constexpr const char* kKernel = "non_finite";
  std::int64_t count;  ///< of all elements

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const std::int64_t start = launch.start(row_index);
    const double found = team.sum(launch.size, [&](std::int64_t i) {
      if (start + i >= count) return 0.0;
      const Compute x = team.template load<Compute>(launch.operands[1], start + i);
      return x - x == Compute(0) ? 0.0 : 1.0;
    });
    team.once([&] {
      if (found > 0) team.store(launch.operands[0], 0, 1.0);
    });
  }
};

}  // namespace ohm::functors
