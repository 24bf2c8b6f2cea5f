#include "runtime/arithmetic/triangle_indices.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/copy.h"

namespace ohm {
namespace {

constexpr std::int64_t kMostLines = std::numeric_limits<std::int32_t>::max();
// More than any device has memory for.
constexpr std::int64_t kMostPlaces = std::int64_t{1} << 40;

TriangleOf checked(const char* function, const TriangleOf& triangle) {
  for (const std::int64_t lines : {triangle.rows, triangle.columns}) {
    if (lines >= 0 && lines <= kMostLines) continue;
    throw std::invalid_argument(fmt::format("[{}] cannot make a matrix of {} rows and {} columns",
                                            function, triangle.rows, triangle.columns));
  }
  // Beyond the corners nothing changes.
  const std::int64_t offset = std::clamp(triangle.offset, -triangle.rows - 1, triangle.columns + 1);
  return {triangle.rows, triangle.columns, offset};
}

// How many columns of this row are on the diagonal or left of it.
std::int64_t columns_below(const TriangleOf& triangle, std::int64_t row) {
  return std::clamp<std::int64_t>(row + triangle.offset + 1, 0, triangle.columns);
}

std::int64_t count_below(const TriangleOf& triangle) {
  // The rows that have some columns, but not all.
  const std::int64_t first = std::clamp<std::int64_t>(-triangle.offset, 0, triangle.rows);
  const std::int64_t last =
      std::clamp<std::int64_t>(triangle.columns - triangle.offset, first, triangle.rows);
  const std::int64_t growing =
      last == first ? 0
                    : (columns_below(triangle, first) + columns_below(triangle, last - 1)) *
                          (last - first) / 2;
  return growing + (triangle.rows - last) * triangle.columns;
}

// Of all rows, the columns from begin(row) to end(row).
template <class Begin, class End>
Tensor listed_places(const char* function, const TriangleOf& triangle, std::int64_t count,
                     const TensorOptions& options, Begin begin, End end) {
  if (count > kMostPlaces) {
    throw std::invalid_argument(fmt::format("[{}] {} rows and {} columns have more places than fit",
                                            function, triangle.rows, triangle.columns));
  }
  Tensor places = empty({2, count}, options);
  if (!places.has_values() || count == 0) return places;
  std::vector<double> rows;
  std::vector<double> columns;
  for (std::int64_t row = 0; row < triangle.rows; ++row) {
    for (std::int64_t column = begin(row); column < end(row); ++column) {
      rows.push_back(static_cast<double>(row));
      columns.push_back(static_cast<double>(column));
    }
  }
  rows.insert(rows.end(), columns.begin(), columns.end());
  copy_into(places, from_values(rows, places.shape(), {options.dtype, Device::cpu()}));
  return places;
}

}  // namespace

Tensor tril_indices(const TriangleOf& given, const TensorOptions& options) {
  const TriangleOf triangle = checked("tril_indices", given);
  return listed_places(
      "tril_indices", triangle, count_below(triangle), options,
      [](std::int64_t) { return std::int64_t{0}; },
      [&](std::int64_t row) { return columns_below(triangle, row); });
}

Tensor triu_indices(const TriangleOf& given, const TensorOptions& options) {
  TriangleOf left = checked("triu_indices", given);
  left.offset -= 1;
  return listed_places(
      "triu_indices", left, left.rows * left.columns - count_below(left), options,
      [&](std::int64_t row) { return columns_below(left, row); },
      [&](std::int64_t) { return left.columns; });
}

}  // namespace ohm
