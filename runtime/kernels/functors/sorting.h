// Sorts of rows, for nvcc and the host alike: see runtime/kernels/functors/functor_list.h. Short
// rows are ranked: each element is compared with every other one. Long ones are sorted tile by
// tile, and the sorted runs are merged, two of them at a time; what is sorted lies row by row.
#pragma once

#include <cstdint>
#include <limits>

#include "runtime/kernels/functors/row_launch.h"

namespace ohm::functors {

/// NaN is larger than any number.
struct Ordering {
  bool wants_largest;  ///< first

  template <class T>
  constexpr bool operator()(T a, T b) const {
    if (a != a || b != b) return wants_largest ? a != a && b == b : b != b && a == a;
    return wants_largest ? a > b : a < b;
  }
  /// Nothing comes after it.
  template <class T>
  constexpr T last() const {
    return wants_largest ? -std::numeric_limits<T>::infinity()
                         : std::numeric_limits<T>::quiet_NaN();
  }
};

/// The first elements of each row in their order, equal ones as they came, and their places.
/// Operands: the elements, `picked` of each row, their places, the rows.
struct TopkRow {
  static constexpr const char* kKernel = "topk_row";
  std::int64_t picked;
  Ordering precedes;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t first =
        number / launch.inner * picked * launch.inner + number % launch.inner;
    const std::int64_t start = launch.start(row_index);
    const auto at = [&](std::int64_t i) {
      return team.template load<double>(launch.operands[2], start + i * launch.inner);
    };
    team.each(launch.size, [&](std::int64_t i) {
      const double x = at(i);
      std::int64_t rank = 0;
      for (std::int64_t other = 0; other < launch.size; ++other) {
        const double y = at(other);
        if (precedes(y, x) || (other < i && !precedes(x, y))) ++rank;
      }
      if (rank >= picked) return;
      team.store(launch.operands[0], first + rank * launch.inner, x);
      team.store(launch.operands[1], first + rank * launch.inner, i);
    });
  }
};

/// A row is a tile of a row of `size` elements that are `inner` apart. Operands: the sorted
/// elements and their places, by rows and tiles; the rows.
struct SortedTile {
  static constexpr const char* kKernel = "sorted_tile";
  static constexpr std::int64_t kElements = 2048;
  std::int64_t size;
  std::int64_t inner;
  Ordering precedes;

  static constexpr std::int64_t tiles(std::int64_t size) {
    return (size + kElements - 1) / kElements;
  }

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto tile = static_cast<std::int64_t>(row_index);
    const std::int64_t number = tile / tiles(size);
    const std::int64_t first = tile % tiles(size) * kElements;
    const std::int64_t count = size - first < kElements ? size - first : kElements;
    const std::int64_t start = number / inner * size * inner + number % inner;
    team.template sort<Compute>(
        count, precedes,
        [&](std::int64_t i) {
          return team.template load<Compute>(launch.operands[2], start + (first + i) * inner);
        },
        [&](std::int64_t to, Compute element, std::int64_t from) {
          team.store(launch.operands[0], number * size + first + to, element);
          team.store(launch.operands[1], number * size + first + to, first + from);
        });
  }
};

/// A row is an element of rows of `size`, of which runs of `length` are sorted: it goes to its
/// place in a run of twice the length. Operands: the elements there and their places in the row,
/// the same before.
struct MergedRun {
  static constexpr const char* kKernel = "merged_run";
  std::int64_t size;
  std::int64_t length;
  Ordering precedes;

  /// How many of the sorted elements [first, last) go before `element`; of equal ones all or none.
  template <class Compute, class At>
  constexpr std::int64_t count_before(Compute element, bool equal_ones, std::int64_t first,
                                      std::int64_t last, const At& at) const {
    const std::int64_t begin = first;
    while (first < last) {
      const std::int64_t middle = first + (last - first) / 2;
      const Compute other = at(middle);
      const bool is_before = equal_ones ? !precedes(element, other) : precedes(other, element);
      first = is_before ? middle + 1 : first;
      last = is_before ? last : middle;
    }
    return first - begin;
  }

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t i = number % size;
    const std::int64_t start = number - i;
    const std::int64_t begin = i / (2 * length) * (2 * length);
    const std::int64_t middle = begin + length < size ? begin + length : size;
    const std::int64_t end = middle + length < size ? middle + length : size;
    team.once([&] {
      const auto at = [&](std::int64_t place) {
        return team.template load<Compute>(launch.operands[2], start + place);
      };
      const Compute element = at(i);
      const bool is_left = i < middle;
      const std::int64_t others = is_left ? count_before(element, false, middle, end, at)
                                          : count_before(element, true, begin, middle, at);
      const std::int64_t to = start + (is_left ? i : begin + i - middle) + others;
      team.store(launch.operands[0], to, element);
      team.store(launch.operands[1], to,
                 team.template load<std::int64_t>(launch.operands[3], number));
    });
  }
};

/// A row is an element of the result, which has the first `picked` of each row. Operands: the
/// elements and their places, as the result lies; the same of whole rows, as they were sorted.
struct PickedOrder {
  static constexpr const char* kKernel = "picked_order";
  std::int64_t size;
  std::int64_t inner;
  std::int64_t picked;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t rank = number / inner % picked;
    const std::int64_t sorted = number / (inner * picked) * inner + number % inner;
    team.once([&] {
      const std::int64_t from = sorted * size + rank;
      team.store(launch.operands[0], number, team.template load<Compute>(launch.operands[2], from));
      team.store(launch.operands[1], number,
                 team.template load<std::int64_t>(launch.operands[3], from));
    });
  }
};

}  // namespace ohm::functors
