// What reductions of tensors compute, line by line: for nvcc and the host alike, see
// runtime/ops/formulas/lines.h.
#pragma once

#include <cstdint>
#include <type_traits>

#include "runtime/tensor/card_lines.h"
#include "runtime/tensor/shape.h"

namespace ohm::formulas {

/// Dimensions that are walked through in row-major order.
struct Walk {
  int dims = 0;
  std::int64_t sizes[kMaxDims] = {};
  std::int64_t strides[kMaxDims] = {};

  constexpr std::int64_t offset(std::int64_t i) const {
    std::int64_t offset = 0;
    for (int dim = dims - 1; dim > 0; --dim) {
      offset += i % sizes[dim] * strides[dim];
      i /= sizes[dim];
    }
    return dims == 0 ? 0 : offset + i * strides[0];
  }
};

/// A line is what is added up to one element. Operands: the sums, row-major, and what is summed.
struct FoldedSum {
  static constexpr const char* kKernel = "folded_sum";
  double factor;
  Walk kept;
  Walk folded;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    using Sum = std::conditional_t<std::is_integral_v<Compute>, Compute, double>;
    const auto number = static_cast<std::int64_t>(line);
    const std::int64_t start = kept.offset(number);
    const Sum sum = team.sum(lines.size, [&](std::int64_t i) {
      return static_cast<Sum>(
          team.template load<Compute>(lines.operands[1], start + folded.offset(i)));
    });
    team.once([&] { team.store(lines.operands[0], number, sum * static_cast<Sum>(factor)); });
  }
};

}  // namespace ohm::formulas
