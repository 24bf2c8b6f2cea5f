// What lines are folded to: formulas of lines, as in lines.h.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "runtime/base/wrapping.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/reduce_split.h"
#include "runtime/kernels/functors/row_launch.h"

namespace ohm::formulas {

/// A result's elements, row-major, and those of the input that are folded to each.
struct Folding {
  Walk kept;
  Walk folded;

  constexpr std::int64_t offset(std::uint64_t line, std::int64_t i) const {
    return kept.offset(static_cast<std::int64_t>(line)) + folded.offset(i);
  }
};

/// Operands: the products, and what is multiplied.
struct FoldedProduct {
  static constexpr const char* kKernel = "folded_product";
  Folding input;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    using Value = std::conditional_t<std::is_integral_v<Compute>, Compute, double>;
    const Value product = team.fold(
        lines.size, Value(1),
        [&](std::int64_t i) {
          return static_cast<Value>(
              team.template load<Compute>(lines.operands[1], input.offset(line, i)));
        },
        [](Value a, Value b) { return wrapping_product(a, b); });
    team.once([&] { team.store(lines.operands[0], static_cast<std::int64_t>(line), product); });
  }
};

/// The slope of a product where a factor is 0: the product of the others times the gradient at the
/// only zero, else 0. Operands: the slopes, which are right where no factor is 0, the gradients,
/// the factors.
struct FoldedProductSlope {
  static constexpr const char* kKernel = "folded_product_slope";
  Folding slopes;
  Walk grads;
  Folding factors;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    const auto at = [&](std::int64_t i) {
      return team.template load<double>(lines.operands[2], factors.offset(line, i));
    };
    const double zeros =
        team.sum(lines.size, [&](std::int64_t i) { return at(i) == 0.0 ? 1.0 : 0.0; });
    const double product = team.fold(
        lines.size, 1.0, [&](std::int64_t i) { return at(i) == 0.0 ? 1.0 : at(i); },
        [](double a, double b) { return a * b; });
    if (zeros == 0.0) return;
    const double grad = team.template load<double>(lines.operands[1],
                                                   grads.offset(static_cast<std::int64_t>(line)));
    team.each(lines.size, [&](std::int64_t i) {
      team.store(lines.operands[0], slopes.offset(line, i),
                 zeros == 1.0 && at(i) == 0.0 ? grad * product : 0.0);
    });
  }
};

/// Operands: the variances or their roots, and the elements.
struct FoldedVariance {
  static constexpr const char* kKernel = "folded_variance";
  Folding input;
  double correction;  ///< of the number of elements
  bool is_root;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    const auto count = static_cast<double>(lines.size);
    const auto at = [&](std::int64_t i) {
      return team.template load<double>(lines.operands[1], input.offset(line, i));
    };
    const double mean = team.sum(lines.size, at) / count;
    const double squares =
        team.sum(lines.size, [&](std::int64_t i) { return (at(i) - mean) * (at(i) - mean); });
    const double left = count - correction;
    const double variance = squares / (left > 0.0 ? left : 0.0);
    team.once([&] {
      team.store(lines.operands[0], static_cast<std::int64_t>(line),
                 is_root ? static_cast<double>(std::sqrt(variance)) : variance);
    });
  }
};

/// Whether any element is not 0, or all of them. Operands: the answers, and the elements.
struct FoldedTruth {
  static constexpr const char* kKernel = "folded_truth";
  Folding input;
  bool wants_all;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    const double found = team.sum(lines.size, [&](std::int64_t i) {
      const double x = team.template load<double>(lines.operands[1], input.offset(line, i));
      return (x == 0.0) == wants_all ? 1.0 : 0.0;
    });
    team.once([&] {
      team.store(lines.operands[0], static_cast<std::int64_t>(line),
                 (found > 0.0) == wants_all ? 0.0 : 1.0);
    });
  }
};

/// Operands: the largest of the elements, NaN where any is none, and the elements.
struct FoldedLargest {
  static constexpr const char* kKernel = "folded_largest";
  Folding input;
  bool is_smallest;  ///< that is wanted instead
  bool is_size;      ///< of the elements' sizes

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    const double sign = is_smallest ? -1.0 : 1.0;
    const auto at = [&](std::int64_t i) {
      const double x = team.template load<double>(lines.operands[1], input.offset(line, i));
      return is_size ? static_cast<double>(std::abs(x)) : sign * x;
    };
    const double largest =
        sign * team.fold(lines.size, -std::numeric_limits<double>::infinity(), at, Maximum());
    team.once([&] {
      team.store(lines.operands[0], static_cast<std::int64_t>(line),
                 lines.size == 0 ? 0.0 : largest);
    });
  }
};

/// Zeros take the place of lines of which nothing takes part. Operands: the lines, row-major, and
/// the scores that they were made of, −∞ where one does not take part.
struct ClearedLine {
  static constexpr const char* kKernel = "cleared_line";
  Folding scores;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    const double taking_part = team.sum(lines.size, [&](std::int64_t i) {
      const double score = team.template load<double>(lines.operands[1], scores.offset(line, i));
      return score == -std::numeric_limits<double>::infinity() ? 0.0 : 1.0;
    });
    if (taking_part > 0.0) return;
    team.each(lines.size, [&](std::int64_t i) {
      team.store(lines.operands[0], lines.start(line) + i * lines.inner, 0.0);
    });
  }
};

// To verify kernels with.
inline constexpr Folding kVerifiedFolding{{1, {37}, {259}}, {1, {259}, {1}}};

}  // namespace ohm::formulas
