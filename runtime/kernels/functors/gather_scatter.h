// Elements that move to other places: functors of rows, as in rows.h.
#pragma once

#include <type_traits>

#include "runtime/base/wrapping.h"
#include "runtime/kernels/functors/row_launch.h"
#include "runtime/kernels/functors/strided_index.h"

namespace ohm::functors {

/// What there is beyond the ends of a dimension.
enum class Beyond : std::uint8_t {
  nothing,
  repeated,   ///< behind the end the input begins again
  reflected,  ///< the input backwards, without its first or last element
  extended,   ///< the first or last element
};

/// The indices of a result's dimension that come from one index of the input: a run, and single
/// ones.
struct TakenIndices {
  std::int64_t first = 0;
  std::int64_t run = 0;
  std::int64_t singles[2] = {};
  int single_count = 0;

  constexpr std::int64_t count() const { return run + single_count; }
  constexpr std::int64_t at(std::int64_t i) const { return i < run ? first + i : singles[i - run]; }
};

/// Where the elements of a result come from, dimension by dimension.
struct Arrangement {
  int dims = 0;
  std::int64_t sizes[kMaxDims] = {};  ///< of the result
  std::int64_t input_sizes[kMaxDims] = {};
  std::int64_t input_strides[kMaxDims] = {};
  std::int64_t shifts[kMaxDims] = {};  ///< where in the input the result begins
  std::uint32_t mirrored = 0;          ///< dimensions that go from the end of the input
  Beyond beyond = Beyond::nothing;
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
      at = within(at, input_sizes[dim]);
      if (at < 0 || at >= input_sizes[dim]) return -1;
      offset += at * input_strides[dim];
    }
    const bool is_left_out =
        is_triangle && (diagonal < lowest_diagonal || diagonal > highest_diagonal);
    return is_left_out ? -1 : offset;
  }

  constexpr std::int64_t within(std::int64_t at, std::int64_t size) const {
    switch (beyond) {
      case Beyond::nothing:
        return at;
      case Beyond::repeated:
        return at % size;
      case Beyond::reflected:
        return at < 0 ? -at : at < size ? at : 2 * (size - 1) - at;
      case Beyond::extended:
        return at < 0 ? 0 : at < size ? at : size - 1;
    }
    return at;
  }

  /// Of a dimension that is reflected or extended, by less than its size.
  constexpr TakenIndices taken(int dim, std::int64_t index) const {
    const std::int64_t last = input_sizes[dim] - 1;
    const bool is_extended = beyond == Beyond::extended;
    TakenIndices indices;
    const std::int64_t same = index - shifts[dim];
    indices.first = is_extended && index == 0 ? 0 : same;
    std::int64_t end = is_extended && index == last ? sizes[dim] : same + 1;
    if (indices.first < 0) indices.first = 0;
    if (end > sizes[dim]) end = sizes[dim];
    indices.run = end > indices.first ? end - indices.first : 0;
    if (is_extended) return indices;
    const std::int64_t reflections[2] = {-index - shifts[dim], 2 * last - index - shifts[dim]};
    for (int side = 0; side < 2; ++side) {
      const bool is_edge = side == 0 ? index == 0 : index == last;
      const std::int64_t at = reflections[side];
      if (!is_edge && at >= 0 && at < sizes[dim]) indices.singles[indices.single_count++] = at;
    }
    return indices;
  }
};

/// A row is an element of the result. Operands: the result, row-major, and the input.
struct Rearranged {
  static constexpr const char* kKernel = "rearranged";
  Arrangement arrangement;
  double fill;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t from = arrangement.offset(number);
    team.once([&] {
      if (from < 0) {
        team.store(launch.operands[0], number, fill);
      } else {
        team.store(launch.operands[0], number,
                   team.template load<Compute>(launch.operands[1], from));
      }
    });
  }
};

struct DimSteps {
  std::int64_t of[kMaxDims] = {};
};

/// The gradient of Rearranged with what is beyond reflected or extended. A row is an element of the
/// input. Operands: the input's gradient, row-major, and the result's.
struct RearrangedBackward {
  static constexpr const char* kKernel = "rearranged_backward";
  Arrangement arrangement;
  DimSteps grad;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    TakenIndices taken[kMaxDims];
    std::int64_t count = 1;
    auto number = static_cast<std::int64_t>(row_index);
    for (int dim = arrangement.dims - 1; dim >= 0; --dim) {
      taken[dim] = arrangement.taken(dim, number % arrangement.input_sizes[dim]);
      number /= arrangement.input_sizes[dim];
      count *= taken[dim].count();
    }
    double sum = 0.0;
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t which = i;
      std::int64_t from = 0;
      for (int dim = arrangement.dims - 1; dim >= 0; --dim) {
        from += taken[dim].at(which % taken[dim].count()) * grad.of[dim];
        which /= taken[dim].count();
      }
      sum += team.template load<double>(launch.operands[1], from);
    }
    team.once([&] { team.store(launch.operands[0], static_cast<std::int64_t>(row_index), sum); });
  }
};

/// Rows along one dimension: where each begins, and how far its elements are apart.
struct IndexAlongDim {
  StridedIndex launch;
  std::int64_t step = 0;

  constexpr std::int64_t offset(std::int64_t row_index, std::int64_t i) const {
    return launch.offset(row_index) + i * step;
  }
};

/// Sums of the elements of a row up to each of them. Operands: the sums, and what is summed.
struct ScanSum {
  static constexpr const char* kKernel = "scan_sum";
  IndexAlongDim input;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    using Sum = std::conditional_t<std::is_integral_v<Compute>, Compute, double>;
    const std::int64_t start = launch.start(row_index);
    const std::int64_t from = input.launch.offset(static_cast<std::int64_t>(row_index));
    team.scan(
        launch.size,
        [&](std::int64_t i) {
          return static_cast<Sum>(
              team.template load<Compute>(launch.operands[1], from + i * input.step));
        },
        [&](std::int64_t i, Sum sum) {
          team.store(launch.operands[0], start + i * launch.inner, sum);
        });
  }
};

// ---- places that an index names -----------------------------------------------------------------

/// A row is an index. Operands: a word that keeps the least place outside of the size, and the
/// indices.
struct PlacesOutside {
  static constexpr const char* kKernel = "places_outside";
  StridedIndex index;
  std::int64_t lowest;  ///< -size where places count from the end too
  std::int64_t size;
  std::int64_t ignored;  ///< a place that does not count

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto place = team.template load<std::int64_t>(
        launch.operands[1], index.offset(static_cast<std::int64_t>(row_index)));
    if (place == ignored || (place >= lowest && place < size)) return;
    team.once([&] { team.keep_least(launch.operands[0], place); });
  }
};

/// A row is an element of the result. Operands: the result, row-major, the indices, the input.
struct Gathered {
  static constexpr const char* kKernel = "gathered";
  StridedIndex index;
  StridedIndex input;  ///< with the indexed dimension at its beginning
  std::int64_t step;   ///< along that dimension
  std::int64_t size;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const auto place = team.template load<std::int64_t>(launch.operands[1], index.offset(number));
    if (place < 0 || place >= size) return;
    team.once([&] {
      team.store(
          launch.operands[0], number,
          team.template load<Compute>(launch.operands[2], input.offset(number) + place * step));
    });
  }
};

/// A row goes along the indexed dimension. Each place has one owner of `rows.size`, which writes
/// what is there in the order of the indices. Operands: the target, the indices, the source or
/// nothing: one number.
struct Scattered {
  static constexpr const char* kKernel = "scattered";
  IndexAlongDim target;
  IndexAlongDim index;
  IndexAlongDim source;
  std::int64_t count;  ///< of a row's indices
  std::int64_t size;   ///< of the target's row
  bool is_added;       ///< `number` times the source; else it takes the place
  double number;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto which = static_cast<std::int64_t>(row_index);
    const bool has_source = launch.operands[2].address != 0;
    team.each(launch.size, [&](std::int64_t owner) {
      for (std::int64_t i = 0; i < count; ++i) {
        const auto place =
            team.template load<std::int64_t>(launch.operands[1], index.offset(which, i));
        if (place < 0 || place >= size || place % launch.size != owner) continue;
        const std::int64_t to = target.offset(which, place);
        if (!has_source) {
          team.store(launch.operands[0], to, number);
          continue;
        }
        const auto x = team.template load<Compute>(launch.operands[2], source.offset(which, i));
        if (!is_added) {
          team.store(launch.operands[0], to, x);
          continue;
        }
        using Sum = std::conditional_t<std::is_integral_v<Compute>, Compute, double>;
        const auto sum = team.template load<Sum>(launch.operands[0], to);
        const auto addend = wrapping_product(static_cast<Sum>(number), static_cast<Sum>(x));
        team.store(launch.operands[0], to, wrapping_sum(sum, addend));
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
  StridedIndex index[kMaxDims] = {};
  StridedIndex slice;  ///< within one
  Divisor width = 1;

  /// Where slice number i begins; -1: there is none. `first`: operand with the first index.
  template <class Team>
  constexpr std::int64_t offset(const Team& team, const RowLaunch& launch, int first,
                                std::int64_t i) const {
    std::int64_t offset = 0;
    for (int dim = 0; dim < leading; ++dim) {
      const auto given =
          team.template load<std::int64_t>(launch.operands[first + dim], index[dim].offset(i));
      const std::int64_t place = given < 0 ? given + sizes[dim] : given;
      if (place < 0 || place >= sizes[dim]) return -1;
      offset += place * strides[dim];
    }
    return offset;
  }
};

/// A row is an element of the result. Operands: the result, the input, the indices.
struct GatheredSlices {
  static constexpr const char* kKernel = "gathered_slices";
  SlicePlaces places;
  StridedIndex result;  ///< slice by slice

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t start = places.offset(team, launch, 2, number / places.width);
    if (start < 0) return;
    team.once([&] {
      team.store(launch.operands[0], result.offset(number),
                 team.template load<Compute>(launch.operands[1],
                                             start + places.slice.offset(number % places.width)));
    });
  }
};

/// A row is an element of a slice, of which those of the named slices are summed, each by its
/// owner as in Scattered. Operands: the sums, the addends, the indices.
struct ScatteredSlices {
  static constexpr const char* kKernel = "scattered_slices";
  SlicePlaces places;
  StridedIndex addends;
  std::int64_t count;  ///< of the named slices

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    using Sum = std::conditional_t<std::is_integral_v<Compute>, Compute, double>;
    const auto element = static_cast<std::int64_t>(row_index);
    const std::int64_t within = places.slice.offset(element);
    team.each(launch.size, [&](std::int64_t owner) {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t start = places.offset(team, launch, 2, i);
        if (start < 0 || start / places.strides[places.leading - 1] % launch.size != owner)
          continue;
        const auto sum = team.template load<Sum>(launch.operands[0], start + within);
        const auto x =
            team.template load<Sum>(launch.operands[1], addends.offset(i * places.width + element));
        team.store(launch.operands[0], start + within, wrapping_sum(sum, x));
      }
    });
  }
};

// To verify kernels with.
inline constexpr Arrangement kVerifiedArrangement{2, {5, 8},          {6, 7}, {7, 1}, {-1, 2},
                                                  0, Beyond::nothing, true,   -2,     5};
inline constexpr Arrangement kVerifiedReflection{2, {41, 40},          {37, 37}, {37, 1}, {-2, -3},
                                                 0, Beyond::reflected, false,    0,       0};
inline constexpr DimSteps kVerifiedDimSteps{{40, 1}};
inline constexpr IndexAlongDim kVerifiedIndexAlongDim{{1, {37}, {259}}, 1};
inline constexpr StridedIndex kVerifiedStridedIndex{1, {37}, {1}};
inline constexpr SlicePlaces kVerifiedPlaces{1,  {37}, {259}, {{1, {37}, {1}}}, {1, {259}, {1}},
                                             259};

}  // namespace ohm::functors
