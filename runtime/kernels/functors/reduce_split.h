// What reductions of tensors compute, line by line: for nvcc and the host alike, see
// runtime/kernels/functors/rows.h.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/base/divisor.h"
#include "runtime/base/shape.h"
#include "runtime/kernels/functors/row_launch.h"

namespace ohm::formulas {

/// Dimensions that are walked through in row-major order.
struct Walk {
  int dims = 0;
  Divisor sizes[kMaxDims] = {};
  std::int64_t strides[kMaxDims] = {};

  constexpr std::int64_t offset(std::int64_t i) const {
    std::int64_t offset = 0;
    for (int dim = dims - 1; dim > 0; --dim) {
      const std::int64_t line = i / sizes[dim];
      offset += (i - line * sizes[dim]) * strides[dim];
      i = line;
    }
    return dims == 0 ? 0 : offset + i * strides[0];
  }
};

/// What is folded to each of several outputs, all of it by one line or in pieces: line n is piece
/// n / outputs of output n % outputs.
struct Fold {
  Walk kept;    ///< to what is folded to an output
  Walk folded;  ///< through it
  std::int64_t outputs = 1;
  std::int64_t size = 0;    ///< of what is folded to an output
  std::int64_t length = 0;  ///< of its pieces; the last one may be shorter

  struct Piece {
    std::int64_t output = 0;
    std::int64_t first = 0;
    std::int64_t size = 0;
  };
  constexpr Piece piece(std::uint64_t line) const {
    const auto number = static_cast<std::int64_t>(line);
    const std::int64_t first = number / outputs * length;
    return {number % outputs, first, size - first < length ? size - first : length};
  }
  /// Of the piece's elements, from its own first on.
  constexpr std::int64_t start(const Piece& of) const { return kept.offset(of.output); }
  constexpr std::int64_t offset(const Piece& of, std::int64_t i) const {
    return folded.offset(of.first + i);
  }
};

/// What the kernels that fold are verified with: four pieces, of which the last is shorter.
inline constexpr Fold kVerifiedFold{
    .kept = {1, {12}, {800}}, .folded = {1, {800}, {1}}, .outputs = 12, .size = 800, .length = 259};

/// A line is what is added up to one element, or a piece of it. Operands: the sums, by lines, and
/// what is summed.
struct FoldedSum {
  static constexpr const char* kKernel = "folded_sum";
  double factor;
  Fold fold;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    using Sum = std::conditional_t<std::is_integral_v<Compute>, Compute, double>;
    const Fold::Piece piece = fold.piece(line);
    const std::int64_t start = fold.start(piece);
    const Sum sum = team.sum(piece.size, [&](std::int64_t i) {
      return static_cast<Sum>(
          team.template load<Compute>(lines.operands[1], start + fold.offset(piece, i)));
    });
    team.once([&] {
      team.store(lines.operands[0], static_cast<std::int64_t>(line),
                 sum * static_cast<Sum>(factor));
    });
  }
};

}  // namespace ohm::formulas
