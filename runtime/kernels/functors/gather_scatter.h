// Elements that move to other places: formulas of lines, as in lines.h.
#pragma once

#include <type_traits>

#include "runtime/base/wrapping.h"
#include "runtime/kernels/functors/reduce_split.h"
#include "runtime/kernels/functors/row_launch.h"

namespace ohm::formulas {

/// Where the elements of a result come from, dimension by dimension.
struct Arrangement {
  int dims = 0;
  std::int64_t sizes[kMaxDims] = {};  ///< of the result
  std::int64_t input_sizes[kMaxDims] = {};
  std::int64_t input_strides[kMaxDims] = {};
  std::int64_t shifts[kMaxDims] = {};  ///< where in the input the result begins
  std::uint32_t mirrored = 0;          ///< dimensions that go from the end of the input
  bool repeats = false;                ///< beyond its end the input begins again
  // The last dimension's index less the one before: elements beyond are not the input's.
  bool is_triangle = false;
  std::int64_t lowest_diagonal = 0;
  std::int64_t highest_diagonal = 0;

  /// Of the result's element number i; -1: it is none of the input's.
  constexpr std::int64_t offset(std::int64_t i) const {
    std::int64_t offset = 0;
    std::int64_t diagonal = 0;
    for (int dim = dims - 1; dim >= 0; --dim) {
      const std::int64_t index = i % sizes[dim];
      i /= sizes[dim];
      if (dim >= dims - 2) diagonal += dim == dims - 1 ? index : -index;
      const bool is_mirrored = (mirrored >> static_cast<unsigned>(dim) & 1U) != 0;
      std::int64_t at = is_mirrored ? input_sizes[dim] - 1 - index : index + shifts[dim];
      if (repeats) at %= input_sizes[dim];
      if (at < 0 || at >= input_sizes[dim]) return -1;
      offset += at * input_strides[dim];
    }
    const bool is_left_out =
        is_triangle && (diagonal < lowest_diagonal || diagonal > highest_diagonal);
    return is_left_out ? -1 : offset;
  }
};

/// A line is an element of the result. Operands: the result, row-major, and the input.
struct Rearranged {
  static constexpr const char* kKernel = "rearranged";
  Arrangement arrangement;
  double fill;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    const auto number = static_cast<std::int64_t>(line);
    const std::int64_t from = arrangement.offset(number);
    team.once([&] {
      if (from < 0) {
        team.store(lines.operands[0], number, fill);
      } else {
        team.store(lines.operands[0], number, team.template load<Compute>(lines.operands[1], from));
      }
    });
  }
};

/// Lines along one dimension: where each begins, and how far its elements are apart.
struct Along {
  Walk lines;
  std::int64_t step = 0;

  constexpr std::int64_t offset(std::int64_t line, std::int64_t i) const {
    return lines.offset(line) + i * step;
  }
};

/// Sums of the elements of a line up to each of them. Operands: the sums, and what is summed.
struct RunningSum {
  static constexpr const char* kKernel = "running_sum";
  Along input;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    using Sum = std::conditional_t<std::is_integral_v<Compute>, Compute, double>;
    const std::int64_t start = lines.start(line);
    const std::int64_t from = input.lines.offset(static_cast<std::int64_t>(line));
    team.scan(
        lines.size,
        [&](std::int64_t i) {
          return static_cast<Sum>(
              team.template load<Compute>(lines.operands[1], from + i * input.step));
        },
        [&](std::int64_t i, Sum sum) {
          team.store(lines.operands[0], start + i * lines.inner, sum);
        });
  }
};

// ---- places that an index names -----------------------------------------------------------------

/// One line over all indices. Operands: what becomes 1 where a place is outside of the size, else
/// 0, and the indices.
struct PlacesOutside {
  static constexpr const char* kKernel = "places_outside";
  Walk index;
  std::int64_t lowest;  ///< -size where places count from the end too
  std::int64_t size;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t /*line*/) const {
    const double outside = team.sum(lines.size, [&](std::int64_t i) {
      const auto place = team.template load<std::int64_t>(lines.operands[1], index.offset(i));
      return place < lowest || place >= size ? 1.0 : 0.0;
    });
    team.once([&] { team.store(lines.operands[0], 0, outside > 0 ? 1.0 : 0.0); });
  }
};

/// A line is an element of the result. Operands: the result, row-major, the indices, the input.
struct Gathered {
  static constexpr const char* kKernel = "gathered";
  Walk index;
  Walk input;         ///< with the indexed dimension at its beginning
  std::int64_t step;  ///< along that dimension
  std::int64_t size;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    const auto number = static_cast<std::int64_t>(line);
    const auto place = team.template load<std::int64_t>(lines.operands[1], index.offset(number));
    if (place < 0 || place >= size) return;
    team.once([&] {
      team.store(
          lines.operands[0], number,
          team.template load<Compute>(lines.operands[2], input.offset(number) + place * step));
    });
  }
};

/// A line goes along the indexed dimension. Each place has one owner of `lines.size`, which writes
/// what is there in the order of the indices. Operands: the target, the indices, the source or
/// nothing: one number.
struct Scattered {
  static constexpr const char* kKernel = "scattered";
  Along target;
  Along index;
  Along source;
  std::int64_t count;  ///< of a line's indices
  std::int64_t size;   ///< of the target's line
  bool is_added;       ///< `number` times the source; else it takes the place
  double number;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    const auto which = static_cast<std::int64_t>(line);
    const bool has_source = lines.operands[2].address != 0;
    team.each(lines.size, [&](std::int64_t owner) {
      for (std::int64_t i = 0; i < count; ++i) {
        const auto place =
            team.template load<std::int64_t>(lines.operands[1], index.offset(which, i));
        if (place < 0 || place >= size || place % lines.size != owner) continue;
        const std::int64_t to = target.offset(which, place);
        if (!has_source) {
          team.store(lines.operands[0], to, number);
          continue;
        }
        const auto x = team.template load<Compute>(lines.operands[2], source.offset(which, i));
        if (!is_added) {
          team.store(lines.operands[0], to, x);
          continue;
        }
        using Sum = std::conditional_t<std::is_integral_v<Compute>, Compute, double>;
        const auto sum = team.template load<Sum>(lines.operands[0], to);
        const auto addend = wrapping_product(static_cast<Sum>(number), static_cast<Sum>(x));
        team.store(lines.operands[0], to, wrapping_sum(sum, addend));
      }
    });
  }
};

// ---- slices that several indices name -----------------------------------------------------------

/// Of a tensor's leading dimensions, an index tensor for each of them; places count from the end
/// where they are negative.
struct SlicePlaces {
  int leading = 0;
  std::int64_t sizes[kMaxDims] = {};
  std::int64_t strides[kMaxDims] = {};  ///< of the tensor with the slices
  Walk index[kMaxDims] = {};
  Walk slice;  ///< within one
  Divisor width = 1;

  /// Where slice number i begins; -1: there is none. `first`: operand with the first index.
  template <class Team>
  constexpr std::int64_t offset(const Team& team, const CardLines& lines, int first,
                                std::int64_t i) const {
    std::int64_t offset = 0;
    for (int dim = 0; dim < leading; ++dim) {
      const auto given =
          team.template load<std::int64_t>(lines.operands[first + dim], index[dim].offset(i));
      const std::int64_t place = given < 0 ? given + sizes[dim] : given;
      if (place < 0 || place >= sizes[dim]) return -1;
      offset += place * strides[dim];
    }
    return offset;
  }
};

/// A line is an element of the result. Operands: the result, row-major, the input, the indices.
struct GatheredSlices {
  static constexpr const char* kKernel = "gathered_slices";
  SlicePlaces places;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    const auto number = static_cast<std::int64_t>(line);
    const std::int64_t start = places.offset(team, lines, 2, number / places.width);
    if (start < 0) return;
    team.once([&] {
      team.store(lines.operands[0], number,
                 team.template load<Compute>(lines.operands[1],
                                             start + places.slice.offset(number % places.width)));
    });
  }
};

/// A line is an element of a slice, of which those of the named slices are summed, each by its
/// owner as in Scattered. Operands: the sums, the addends, the indices.
struct ScatteredSlices {
  static constexpr const char* kKernel = "scattered_slices";
  SlicePlaces places;
  Walk addends;
  std::int64_t count;  ///< of the named slices

  template <class Compute, class Team>
  constexpr void run(const Team& team, const CardLines& lines, std::uint64_t line) const {
    using Sum = std::conditional_t<std::is_integral_v<Compute>, Compute, double>;
    const auto element = static_cast<std::int64_t>(line);
    const std::int64_t within = places.slice.offset(element);
    team.each(lines.size, [&](std::int64_t owner) {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t start = places.offset(team, lines, 2, i);
        if (start < 0 || start / places.strides[places.leading - 1] % lines.size != owner) continue;
        const auto sum = team.template load<Sum>(lines.operands[0], start + within);
        const auto x =
            team.template load<Sum>(lines.operands[1], addends.offset(i * places.width + element));
        team.store(lines.operands[0], start + within, wrapping_sum(sum, x));
      }
    });
  }
};

// To verify kernels with.
inline constexpr Arrangement kVerifiedArrangement{2, {5, 8}, {6, 7}, {7, 1}, {-1, 2},
                                                  0, false,  true,   -2,     5};
inline constexpr Along kVerifiedAlong{{1, {37}, {259}}, 1};
inline constexpr Walk kVerifiedWalk{1, {37}, {1}};
inline constexpr SlicePlaces kVerifiedPlaces{1,  {37}, {259}, {{1, {37}, {1}}}, {1, {259}, {1}},
                                             259};

}  // namespace ohm::formulas
