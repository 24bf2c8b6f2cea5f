// Norms and extrema of what is folded to one element, for nvcc and the host alike: see
// runtime/kernels/functors/functor_list.h. What is folded in pieces is folded once more, from what
// the pieces gave.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/reduce_split.h"
#include "runtime/kernels/functors/row_launch.h"

namespace ohm::formulas {

/// Operands: the norms, by lines, and the elements.
struct FoldedNorm {
  static constexpr const char* kKernel = "folded_norm";
  bool squares;     ///< the elements; else their sizes are added up
  bool takes_root;  ///< of the sum
  Fold fold;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    const Fold::Piece piece = fold.piece(line);
    const std::int64_t start = fold.start(piece);
    const double sum = team.sum(piece.size, [&](std::int64_t i) {
      const double x = team.template load<double>(lines.operands[1], start + fold.offset(piece, i));
      return squares ? x * x : static_cast<double>(std::abs(x));
    });
    team.once([&] {
      team.store(lines.operands[0], static_cast<std::int64_t>(line),
                 takes_root ? static_cast<double>(std::sqrt(sum)) : sum);
    });
  }
};

/// Whether `x` takes the place of the extremum so far: NaN does, and stays.
constexpr bool is_more_extreme(double x, double best, bool wants_largest) {
  if (best != best || x != x) return best == best;
  return wants_largest ? x > best : x < best;
}

/// Operands: the extrema, by lines, NaN where any element is; the places of the first of them;
/// either may be left out; the elements; the places that stand for theirs, or none.
struct FoldedExtremum {
  static constexpr const char* kKernel = "folded_extremum";
  bool wants_largest;
  Fold fold;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto number = static_cast<std::int64_t>(line);
    const Fold::Piece piece = fold.piece(line);
    const std::int64_t start = fold.start(piece);
    const double sign = wants_largest ? 1.0 : -1.0;
    const auto at = [&](std::int64_t i) {
      return team.template load<double>(lines.operands[2], start + fold.offset(piece, i));
    };
    const double best =
        sign * team.fold(
                   piece.size, -kInfinity, [&](std::int64_t i) { return sign * at(i); }, Maximum());
    if (lines.operands[0].address != 0) {
      team.once([&] { team.store(lines.operands[0], number, best); });
    }
    if (lines.operands[1].address == 0) return;
    const double first = -team.largest(piece.size, [&](std::int64_t i) {
      const double x = at(i);
      const bool is_chosen = best != best ? x != x : x == best;
      return is_chosen ? -static_cast<double>(i) : -kInfinity;
    });
    team.once([&] {
      const auto i = static_cast<std::int64_t>(first);
      team.store(
          lines.operands[1], number,
          lines.operands[3].address == 0
              ? piece.first + i
              : team.template load<std::int64_t>(lines.operands[3], start + fold.offset(piece, i)));
    });
  }
};

}  // namespace ohm::formulas
