// Reductions that may be done in pieces, which are reduced once more from what the pieces gave: for
// nvcc and the host alike, see rows.h.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/element_run.h"
#include "runtime/kernels/functors/row_launch.h"
#include "runtime/kernels/functors/strided_index.h"

namespace ohm::functors {

/// What is folded to each of several outputs, all of it by one row or in pieces: row n is piece
/// n / outputs of output n % outputs.
struct SplitReduction {
  StridedIndex kept;    ///< to what is folded to an output
  StridedIndex folded;  ///< through it
  std::int64_t outputs = 1;
  std::int64_t size = 0;    ///< of what is folded to an output
  std::int64_t length = 0;  ///< of its pieces; the last one may be shorter

  struct Piece {
    std::int64_t output = 0;
    std::int64_t first = 0;
    std::int64_t size = 0;
  };
  constexpr Piece piece(std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t first = number / outputs * length;
    return {number % outputs, first, size - first < length ? size - first : length};
  }
  /// Of the piece's elements, from its own first on.
  constexpr std::int64_t start(const Piece& of) const { return kept.offset(of.output); }
  constexpr std::int64_t offset(const Piece& of, std::int64_t i) const {
    return folded.offset(of.first + i);
  }
  /// Whether a piece's elements are at equal steps.
  constexpr bool is_run() const { return folded.dims == 1; }
  constexpr ElementRun run(const RowOperand& operand, const Piece& of) const {
    return {&operand, start(of) + of.first * folded.strides[0], folded.strides[0]};
  }
};

/// What the kernels that fold are verified with: four pieces, of which the last is shorter.
inline constexpr SplitReduction kVerifiedSplitReduction{
    .kept = {1, {12}, {800}}, .folded = {1, {800}, {1}}, .outputs = 12, .size = 800, .length = 259};

/// A row is what is added up to one element, or a piece of it. Operands: the sums, by rows, and
/// what is summed.
struct ReduceSum {
  static constexpr const char* kKernel = "reduce_sum";
  double factor;
  SplitReduction fold;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    using Sum = std::conditional_t<std::is_integral_v<Compute>, Compute, double>;
    const SplitReduction::Piece piece = fold.piece(row_index);
    const std::int64_t start = fold.start(piece);
    const auto of = [](Compute x) { return static_cast<Sum>(x); };
    const Sum sum = fold.is_run() ? team.template sum_along<Compute>(
                                        piece.size, of, fold.run(launch.operands[1], piece))
                                  : team.sum(piece.size, [&](std::int64_t i) {
                                      return of(team.template load<Compute>(
                                          launch.operands[1], start + fold.offset(piece, i)));
                                    });
    team.once([&] {
      team.store(launch.operands[0], static_cast<std::int64_t>(row_index),
                 sum * static_cast<Sum>(factor));
    });
  }
};

/// Operands: the norms, by rows, and the elements.
struct ReduceNorm {
  static constexpr const char* kKernel = "reduce_norm";
  bool squares;     ///< the elements; else their sizes are added up
  bool takes_root;  ///< of the sum
  SplitReduction fold;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const SplitReduction::Piece piece = fold.piece(row_index);
    const std::int64_t start = fold.start(piece);
    const auto of = [this](double x) { return squares ? x * x : static_cast<double>(std::abs(x)); };
    const double sum = fold.is_run() ? team.template sum_along<double>(
                                           piece.size, of, fold.run(launch.operands[1], piece))
                                     : team.sum(piece.size, [&](std::int64_t i) {
                                         return of(team.template load<double>(
                                             launch.operands[1], start + fold.offset(piece, i)));
                                       });
    team.once([&] {
      team.store(launch.operands[0], static_cast<std::int64_t>(row_index),
                 takes_root ? static_cast<double>(std::sqrt(sum)) : sum);
    });
  }
};

/// Whether `x` takes the place of the extremum so far: NaN does, and stays.
constexpr bool is_more_extreme(double x, double best, bool wants_largest) {
  if (best != best || x != x) return best == best;
  return wants_largest ? x > best : x < best;
}

/// Operands: the extrema, by rows, NaN where any element is; the places of the first of them;
/// either may be left out; the elements; the places that stand for theirs, or none.
struct ReduceExtremum {
  static constexpr const char* kKernel = "reduce_extremum";
  bool wants_largest;
  SplitReduction fold;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto number = static_cast<std::int64_t>(row_index);
    const SplitReduction::Piece piece = fold.piece(row_index);
    const std::int64_t start = fold.start(piece);
    const double sign = wants_largest ? 1.0 : -1.0;
    const auto at = [&](std::int64_t i) {
      return team.template load<double>(launch.operands[2], start + fold.offset(piece, i));
    };
    const double best =
        sign * team.fold(
                   piece.size, -kInfinity, [&](std::int64_t i) { return sign * at(i); }, Maximum());
    if (launch.operands[0].address != 0) {
      team.once([&] { team.store(launch.operands[0], number, best); });
    }
    if (launch.operands[1].address == 0) return;
    const double first = -team.largest(piece.size, [&](std::int64_t i) {
      const double x = at(i);
      const bool is_chosen = best != best ? x != x : x == best;
      return is_chosen ? -static_cast<double>(i) : -kInfinity;
    });
    team.once([&] {
      const auto i = static_cast<std::int64_t>(first);
      team.store(launch.operands[1], number,
                 launch.operands[3].address == 0
                     ? piece.first + i
                     : team.template load<std::int64_t>(launch.operands[3],
                                                        start + fold.offset(piece, i)));
    });
  }
};

}  // namespace ohm::functors
