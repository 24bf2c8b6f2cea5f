// Sorts of long rows digit by digit, the lowest first, for nvcc and the host alike: functors of
// rows, as in rows.h. For each digit a tile of a row counts how many elements have which value of
// it; the counts of all tiles are added up; then each tile moves its elements behind those of lower
// values and those of tiles before it. Equal ones stay in their order, so that what is sorted by
// the lower digits stays sorted by them.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "runtime/base/wrapping.h"
#include "runtime/kernels/functors/element_run.h"
#include "runtime/kernels/functors/row_launch.h"
#include "runtime/kernels/functors/sorting.h"

namespace ohm::functors {

/// A digit of the keys of elements: whole numbers that are ordered as `precedes` orders elements.
struct DigitOrder {
  static constexpr int kBits = 8;
  static constexpr int kValues = 1 << kBits;

  int first_bit;
  int bits;  ///< kBits at most
  Ordering precedes;

  template <class T>
  using Key = std::conditional_t<sizeof(T) == sizeof(float), std::uint32_t, std::uint64_t>;

  /// Zeros of either sign are equal, and so are all NaNs.
  template <class T>
  constexpr Key<T> key(T x) const {
    constexpr Key<T> kSign = Key<T>{1} << (8 * sizeof(T) - 1);
    const auto stored = std::bit_cast<Key<T>>(x == T(0) ? T(0) : x);
    Key<T> ordered = (stored & kSign) != 0 ? ~stored : stored | kSign;
    if (x != x) ordered = ~Key<T>{0};
    return precedes.wants_largest ? ~ordered : ordered;
  }
  template <class T>
  constexpr std::uint32_t digit(T x) const {
    return static_cast<std::uint32_t>(key(x) >> first_bit) & ((1U << bits) - 1U);
  }
};

/// Rows of `size` elements that are `inner` apart, as tiles: row n of a launch is tile
/// n % tiles() of row n / tiles().
struct DigitTiles {
  /// Of a tile: as many as a block has memory for.
  template <class Element>
  static constexpr std::int64_t kLength = sizeof(Element) == sizeof(float) ? 4608 : 3840;

  std::int64_t size;
  std::int64_t inner;
  std::int64_t length;  ///< of a tile

  struct Tile {
    std::int64_t row;
    std::int64_t number;  ///< of the row's
    std::int64_t first;   ///< element of the row
    std::int64_t count;
  };
  constexpr std::int64_t tiles() const { return (size + length - 1) / length; }
  constexpr Tile tile(std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t first = number % tiles() * length;
    return {number / tiles(), number % tiles(), first,
            size - first < length ? size - first : length};
  }
  constexpr ElementRun elements(const RowOperand& operand, const Tile& of) const {
    return {&operand, of.row / inner * size * inner + of.row % inner + of.first * inner, inner};
  }
  /// Counts lie by rows, digits and tiles.
  constexpr std::int64_t count_place(const Tile& of, std::int64_t digit) const {
    return (of.row * DigitOrder::kValues + digit) * tiles() + of.number;
  }
};

/// A row is a tile. Operands: the counts, the elements.
struct DigitCounts {
  static constexpr const char* kKernel = "digit_counts";
  DigitTiles layout;
  DigitOrder order;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const DigitTiles::Tile tile = layout.tile(row_index);
    team.template count_digits<Compute>(
        tile.count, order, layout.elements(launch.operands[1], tile),
        [&](std::int64_t digit, std::int64_t count) {
          team.store(launch.operands[0], layout.count_place(tile, digit), count);
        });
  }
};

/// A row are the counts of one digit of one row, of all its tiles. Operands: the counts, which
/// become how many are in tiles before, and their sum.
struct CountsBefore {
  static constexpr const char* kKernel = "counts_before";

  template <class /*Compute*/, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t start = number * launch.size;
    const auto count = [&](std::int64_t i) {
      return team.template load<std::int64_t>(launch.operands[0], start + i);
    };
    team.scan(launch.size, count, [&](std::int64_t i, std::int64_t sum) {
      team.store(launch.operands[0], start + i, wrapping_difference(sum, count(i)));
      if (i == launch.size - 1) team.store(launch.operands[1], number, sum);
    });
  }
};

/// What a team moves of a tile: its elements, and their places in the row, or no operand where they
/// are the numbers from `first_place` on.
struct MovedTile {
  std::int64_t count;
  ElementRun elements;
  ElementRun places;
  std::int64_t first_place;
};

/// A row is a tile. Operands: the elements and their places, by rows; how many elements of a digit
/// are in tiles before, and in all; the elements before, and their places or none.
struct MovedByDigit {
  static constexpr const char* kKernel = "moved_by_digit";
  DigitTiles layout;
  DigitOrder order;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const DigitTiles::Tile tile = layout.tile(row_index);
    const std::int64_t start = tile.row * layout.size;
    const MovedTile moved{tile.count, layout.elements(launch.operands[4], tile),
                          ElementRun{&launch.operands[5], start + tile.first}, tile.first};
    const auto is_place = [&](std::int64_t to) { return to >= 0 && to < layout.size; };
    team.template move_by_digit<Compute>(
        moved, order,
        [&](std::int64_t digit) {
          return team.template load<std::int64_t>(launch.operands[3],
                                                  tile.row * DigitOrder::kValues + digit);
        },
        [&](std::int64_t digit) {
          return team.template load<std::int64_t>(launch.operands[2],
                                                  layout.count_place(tile, digit));
        },
        [&](std::int64_t to, Compute element) {
          if (is_place(to)) team.store(launch.operands[0], start + to, element);
        },
        [&](std::int64_t to, std::int64_t place) {
          if (is_place(to)) team.store(launch.operands[1], start + to, place);
        });
  }
};

// To verify kernels with: a row is a tile. Of random numbers of elements before none but the first
// digit's can be right, so that all are of that.
inline constexpr DigitTiles kVerifiedTiles{259, 1, 259};
inline constexpr DigitOrder kVerifiedDigit{8, 8, {true}};
inline constexpr DigitOrder kVerifiedOneDigit{0, 0, {false}};

}  // namespace ohm::functors
