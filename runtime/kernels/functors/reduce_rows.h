// Reductions of rows: functors of rows, as in rows.h.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/base/wrapping.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/row_launch.h"
#include "runtime/kernels/functors/strided_index.h"

namespace ohm::functors {

/// A result's elements, row-major, and those of the input that are folded to each.
struct ReducedRows {
  StridedIndex kept;
  StridedIndex folded;

  constexpr std::int64_t offset(std::uint64_t row_index, std::int64_t i) const {
    return kept.offset(static_cast<std::int64_t>(row_index)) + folded.offset(i);
  }
};

/// Operands: the products, and what is multiplied.
struct ReduceProduct {
  static constexpr const char* kKernel = "reduce_product";
  ReducedRows input;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    using Value = std::conditional_t<std::is_integral_v<Compute>, Compute, double>;
    const Value product = team.fold(
        launch.size, Value(1),
        [&](std::int64_t i) {
          return static_cast<Value>(
              team.template load<Compute>(launch.operands[1], input.offset(row_index, i)));
        },
        [](Value a, Value b) { return wrapping_product(a, b); });
    team.once(
        [&] { team.store(launch.operands[0], static_cast<std::int64_t>(row_index), product); });
  }
};

/// The slope of a product where a factor is 0: the product of the others times the gradient at the
/// only zero, else 0. Operands: the slopes, which are right where no factor is 0, the gradients,
/// the factors.
struct ReduceProductBackward {
  static constexpr const char* kKernel = "reduce_product_backward";
  ReducedRows slopes;
  StridedIndex grads;
  ReducedRows factors;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto at = [&](std::int64_t i) {
      return team.template load<double>(launch.operands[2], factors.offset(row_index, i));
    };
    const double zeros =
        team.sum(launch.size, [&](std::int64_t i) { return at(i) == 0.0 ? 1.0 : 0.0; });
    const double product = team.fold(
        launch.size, 1.0, [&](std::int64_t i) { return at(i) == 0.0 ? 1.0 : at(i); },
        [](double a, double b) { return a * b; });
    if (zeros == 0.0) return;
    const double grad = team.template load<double>(
        launch.operands[1], grads.offset(static_cast<std::int64_t>(row_index)));
    team.each(launch.size, [&](std::int64_t i) {
      team.store(launch.operands[0], slopes.offset(row_index, i),
                 zeros == 1.0 && at(i) == 0.0 ? grad * product : 0.0);
    });
  }
};

/// Operands: the variances or their roots, and the elements.
struct ReduceVariance {
  static constexpr const char* kKernel = "reduce_variance";
  ReducedRows input;
  double correction;  ///< of the number of elements
  bool is_root;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto count = static_cast<double>(launch.size);
    const auto at = [&](std::int64_t i) {
      return team.template load<double>(launch.operands[1], input.offset(row_index, i));
    };
    const double mean = team.sum(launch.size, at) / count;
    const double squares =
        team.sum(launch.size, [&](std::int64_t i) { return (at(i) - mean) * (at(i) - mean); });
    const double left = count - correction;
    const double variance = squares / (left > 0.0 ? left : 0.0);
    team.once([&] {
      team.store(launch.operands[0], static_cast<std::int64_t>(row_index),
                 is_root ? static_cast<double>(std::sqrt(variance)) : variance);
    });
  }
};

/// Whether any element is not 0, or all of them. Operands: the answers, and the elements.
struct AnyAll {
  static constexpr const char* kKernel = "any_all";
  ReducedRows input;
  bool wants_all;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const double found = team.sum(launch.size, [&](std::int64_t i) {
      const double x = team.template load<double>(launch.operands[1], input.offset(row_index, i));
      return (x == 0.0) == wants_all ? 1.0 : 0.0;
    });
    team.once([&] {
      team.store(launch.operands[0], static_cast<std::int64_t>(row_index),
                 (found > 0.0) == wants_all ? 0.0 : 1.0);
    });
  }
};

/// Operands: the largest of the elements, NaN where any is none, and the elements.
struct ReduceMaximum {
  static constexpr const char* kKernel = "reduce_maximum";
  ReducedRows input;
  bool is_smallest;  ///< that is wanted instead
  bool is_size;      ///< of the elements' sizes

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const double sign = is_smallest ? -1.0 : 1.0;
    const auto at = [&](std::int64_t i) {
      const double x = team.template load<double>(launch.operands[1], input.offset(row_index, i));
      return is_size ? static_cast<double>(std::abs(x)) : sign * x;
    };
    const double largest =
        sign * team.fold(launch.size, -std::numeric_limits<double>::infinity(), at, Maximum());
    team.once([&] {
      team.store(launch.operands[0], static_cast<std::int64_t>(row_index),
                 launch.size == 0 ? 0.0 : largest);
    });
  }
};

/// Zeros take the place of rows of which nothing takes part. Operands: the rows, row-major, and
/// the scores that they were made of, −∞ where one does not take part.
struct ClearedRow {
  static constexpr const char* kKernel = "cleared_row";
  ReducedRows scores;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const double taking_part = team.sum(launch.size, [&](std::int64_t i) {
      const double score =
          team.template load<double>(launch.operands[1], scores.offset(row_index, i));
      return score == -std::numeric_limits<double>::infinity() ? 0.0 : 1.0;
    });
    if (taking_part > 0.0) return;
    team.each(launch.size, [&](std::int64_t i) {
      team.store(launch.operands[0], launch.start(row_index) + i * launch.inner, 0.0);
    });
  }
};

// To verify kernels with.
inline constexpr ReducedRows kVerifiedReducedRows{{1, {37}, {259}}, {1, {259}, {1}}};

}  // namespace ohm::functors
