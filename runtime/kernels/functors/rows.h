// Functors of a row of elements, for nvcc and the host alike: see
// runtime/kernels/functors/functor_list.h. A team is what computes one row: a block of threads,
// one thread, or the host. It loads and stores elements, visits them (each), and knows what all of
// its members found together (sum, largest). Softmax, layer norm, batch norm, embeddings and
// attention have loops of their own on the host, for speed; tests hold both equal.

#pragma once

#include <cmath>
#include <limits>

#include "runtime/kernels/functors/row_launch.h"
#include "runtime/kernels/functors/strided_index.h"

namespace ohm::functors {

/// Operands: the result, x. All of the same rows.
struct SoftmaxRow {
  static constexpr const char* kKernel = "softmax_row";
  bool is_log;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const std::int64_t start = launch.start(row_index);
    const auto at = [&](std::int64_t i) {
      return team.template load<Compute>(launch.operands[1], start + i * launch.inner);
    };
    const Compute largest = team.largest(launch.size, at);
    const double sum = team.sum(launch.size, [&](std::int64_t i) {
      return static_cast<double>(std::exp(at(i) - largest));
    });
    const auto scale = static_cast<Compute>(1.0 / sum);
    const auto log_sum = static_cast<Compute>(std::log(sum));
    team.each(launch.size, [&](std::int64_t i) {
      const Compute shifted = at(i) - largest;
      team.store(launch.operands[0], start + i * launch.inner,
                 is_log ? shifted - log_sum : static_cast<Compute>(std::exp(shifted)) * scale);
    });
  }
};

/// Operands: the gradient of x, that of the result (times the result, where it is no logarithm),
/// the result.
struct SoftmaxBackwardRow {
  static constexpr const char* kKernel = "softmax_backward_row";
  bool is_log;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const std::int64_t start = launch.start(row_index);
    const auto at = [&](int operand, std::int64_t i) {
      return team.template load<Compute>(launch.operands[operand], start + i * launch.inner);
    };
    const auto total = static_cast<Compute>(
        team.sum(launch.size, [&](std::int64_t i) { return static_cast<double>(at(1, i)); }));
    team.each(launch.size, [&](std::int64_t i) {
      const Compute result = at(2, i);
      const Compute weight = is_log ? static_cast<Compute>(std::exp(result)) : result;
      team.store(launch.operands[0], start + i * launch.inner, at(1, i) - weight * total);
    });
  }
};

/// Operands: the result, the mean and 1/deviation of each row, x, weight and bias of a row's
/// elements or neither.
struct LayerNormRow {
  static constexpr const char* kKernel = "layer_norm_row";
  double eps;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const std::int64_t start = launch.start(row_index);
    const auto number = static_cast<std::int64_t>(row_index);
    const auto length = static_cast<double>(launch.size);
    const auto at = [&](std::int64_t i) {
      return team.template load<Compute>(launch.operands[3], start + i);
    };
    const double mean =
        team.sum(launch.size, [&](std::int64_t i) { return static_cast<double>(at(i)); }) / length;
    const double squares = team.sum(launch.size, [&](std::int64_t i) {
      const double distance = static_cast<double>(at(i)) - mean;
      return distance * distance;
    });
    const auto center = static_cast<Compute>(mean);
    const auto inverse = static_cast<Compute>(1.0 / std::sqrt(squares / length + eps));
    team.once([&] {
      team.store(launch.operands[1], number, center);
      team.store(launch.operands[2], number, inverse);
    });
    const bool has_weight = launch.operands[4].address != 0;
    const bool has_bias = launch.operands[5].address != 0;
    team.each(launch.size, [&](std::int64_t i) {
      Compute y = (at(i) - center) * inverse;
      if (has_weight) y *= team.template load<Compute>(launch.operands[4], i);
      if (has_bias) y += team.template load<Compute>(launch.operands[5], i);
      team.store(launch.operands[0], start + i, y);
    });
  }
};

/// Operands: the gradient of x, that of the result, x, mean, 1/deviation, weight or none. With x̂
/// the normalised row and h = grad · weight: (h − mean(h) − x̂ · mean(h·x̂)) / deviation.
struct LayerNormBackwardRow {
  static constexpr const char* kKernel = "layer_norm_backward_row";

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const std::int64_t start = launch.start(row_index);
    const auto number = static_cast<std::int64_t>(row_index);
    const auto length = static_cast<double>(launch.size);
    const bool has_weight = launch.operands[5].address != 0;
    const Compute mean = team.template load<Compute>(launch.operands[3], number);
    const Compute inverse = team.template load<Compute>(launch.operands[4], number);
    const auto normalised = [&](std::int64_t i) {
      return (team.template load<Compute>(launch.operands[2], start + i) - mean) * inverse;
    };
    const auto weighted = [&](std::int64_t i) {
      const Compute grad = team.template load<Compute>(launch.operands[1], start + i);
      return has_weight ? grad * team.template load<Compute>(launch.operands[5], i) : grad;
    };
    const auto total = static_cast<Compute>(team.sum(launch.size, [&](std::int64_t i) {
      return static_cast<double>(weighted(i));
    }) / length);
    const auto slope = static_cast<Compute>(team.sum(launch.size, [&](std::int64_t i) {
      return static_cast<double>(weighted(i)) * static_cast<double>(normalised(i));
    }) / length);
    team.each(launch.size, [&](std::int64_t i) {
      team.store(launch.operands[0], start + i,
                 (weighted(i) - total - normalised(i) * slope) * inverse);
    });
  }
};

/// Sums over rows: row i is column i. Operands: the gradients of weight and bias, either of which
/// may be left out, the gradient of the result, x, mean, 1/deviation of each row.
struct LayerNormColumn {
  static constexpr const char* kKernel = "layer_norm_column";

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto column = static_cast<std::int64_t>(row_index);
    const auto grad = [&](std::int64_t row) {
      return team.template load<Compute>(launch.operands[2], row * launch.inner + column);
    };
    if (launch.operands[0].address != 0) {
      const double sum = team.sum(launch.size, [&](std::int64_t row) {
        const Compute x =
            team.template load<Compute>(launch.operands[3], row * launch.inner + column);
        const Compute mean = team.template load<Compute>(launch.operands[4], row);
        const Compute inverse = team.template load<Compute>(launch.operands[5], row);
        return static_cast<double>(grad(row) * ((x - mean) * inverse));
      });
      team.once([&] { team.store(launch.operands[0], column, sum); });
    }
    if (launch.operands[1].address != 0) {
      const double sum =
          team.sum(launch.size, [&](std::int64_t row) { return static_cast<double>(grad(row)); });
      team.once([&] { team.store(launch.operands[1], column, sum); });
    }
  }
};

/// The negative log-likelihood of one class for each target; classes are `positions` apart in the
/// scores of a sample.
struct ChosenClass {
  Divisor positions;
  std::int64_t ignored;  ///< a target that does not count

  constexpr std::int64_t place(std::int64_t i, std::int64_t index, std::int64_t classes) const {
    return (i / positions * classes + index) * positions + i % positions;
  }
};

/// One row over all targets. Operands: what becomes 1 where one is no class, else 0, and the
/// targets.
struct ClassesOutside {
  static constexpr const char* kKernel = "classes_outside";
  std::int64_t ignored;
  std::int64_t classes;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t /*row_index*/) const {
    const double outside = team.sum(launch.size, [&](std::int64_t i) {
      const auto index = team.template load<std::int64_t>(launch.operands[1], i);
      return index != ignored && (index < 0 || index >= classes) ? 1.0 : 0.0;
    });
    team.once([&] { team.store(launch.operands[0], 0, outside > 0 ? 1.0 : 0.0); });
  }
};

/// One row over all targets, with `inner` classes. Operands: the sum of the losses or their mean,
/// the weights' sum, the scores, the targets, a weight for each class or none.
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
      if (index == chosen.ignored) return 0.0;
      return launch.operands[4].address == 0
                 ? 1.0
                 : team.template load<double>(launch.operands[4], index);
    };
    const double losses = team.sum(launch.size, [&](std::int64_t i) {
      const std::int64_t index = target(i);
      if (index == chosen.ignored) return 0.0;
      const std::int64_t place = chosen.place(i, index, launch.inner);
      return -weight(index) * team.template load<double>(launch.operands[2], place);
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
    if (index != chosen.ignored) {
      const double weight = launch.operands[3].address == 0
                                ? 1.0
                                : team.template load<double>(launch.operands[3], index);
      const std::int64_t place = chosen.place(i, index, launch.inner);
      loss = -weight * team.template load<double>(launch.operands[1], place);
    }
    team.once([&] { team.store(launch.operands[0], i, loss); });
  }
};

/// A row is a target, and one element of the gradient of the scores is written for it. Operands:
/// the gradient of the scores, that of the loss, the targets, a weight for each class or none.
struct ChosenBackward {
  static constexpr const char* kKernel = "chosen_backward";
  ChosenClass chosen;
  bool is_reduced;  ///< one gradient for all targets
  double divisor;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto i = static_cast<std::int64_t>(row_index);
    const auto index = team.template load<std::int64_t>(launch.operands[2], i);
    if (index == chosen.ignored) return;
    const double weight = launch.operands[3].address == 0
                              ? 1.0
                              : team.template load<double>(launch.operands[3], index);
    const double grad = team.template load<double>(launch.operands[1], is_reduced ? 0 : i);
    team.once([&] {
      team.store(launch.operands[0], chosen.place(i, index, launch.inner),
                 -weight * grad / divisor);
    });
  }
};

/// A row is a row of a table, to which the rows of its index are added, the first one first.
/// Operands: the sums, the indices, the rows.
struct ScatteredRow {
  static constexpr const char* kKernel = "scattered_row";
  std::int64_t count;    ///< of indices
  std::int64_t ignored;  ///< the row that stays 0; -1: none

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto row = static_cast<std::int64_t>(row_index);
    const auto is_mine = [&](std::int64_t i) {
      return team.template load<std::int64_t>(launch.operands[1], i) == row;
    };
    // Most rows of a large table have no index.
    const double mine = team.sum(count, [&](std::int64_t i) { return is_mine(i) ? 1.0 : 0.0; });
    const bool is_empty = mine == 0.0 || row == ignored;
    team.each(launch.size, [&](std::int64_t column) {
      Compute sum = 0;
      for (std::int64_t i = 0; !is_empty && i < count; ++i) {
        if (is_mine(i)) {
          sum += team.template load<Compute>(launch.operands[2], i * launch.size + column);
        }
      }
      team.store(launch.operands[0], row * launch.size + column, sum);
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
