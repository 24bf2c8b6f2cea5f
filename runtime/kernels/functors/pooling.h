// Functors of pooling, over the windows of an image, for nvcc and the host alike: see
// runtime/kernels/functors/functor_list.h. Gradients are gathered: each pixel adds up what the
// windows that it is in have for it, in their order.
#pragma once

#include <cstdint>
#include <limits>

#include "runtime/base/divisor.h"
#include "runtime/kernels/functors/plane_layout.h"
#include "runtime/kernels/functors/row_launch.h"

namespace ohm::functors {

/// Windows along one dimension of the image.
struct PoolAxis {
  Divisor in = 0;
  Divisor out = 0;
  std::int64_t kernel = 1;
  Divisor stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
};

struct PoolPlan {
  std::int64_t planes = 1;
  PoolAxis rows;
  PoolAxis columns;

  constexpr std::int64_t in_pixels() const { return rows.in * columns.in; }
  constexpr std::int64_t out_pixels() const { return rows.out * columns.out; }
};

/// [first, last).
struct PoolRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// The windows of `dilation` that can hold the element at `position`.
constexpr PoolRange sliding_windows_with(const PoolAxis& axis, std::int64_t position) {
  const std::int64_t padded = position + axis.padding;
  const std::int64_t earliest = padded - (axis.kernel - 1) * axis.dilation;
  const std::int64_t last = padded / axis.stride + 1;
  return {earliest <= 0 ? 0 : (earliest + axis.stride - 1) / axis.stride,
          last < axis.out ? last : std::int64_t{axis.out}};
}

/// Calls visit(row, column) for each window in these ranges.
template <class Visit>
constexpr void for_each_window(const PoolRange& rows, const PoolRange& columns,
                               const Visit& visit) {
  for (std::int64_t row = rows.first; row < rows.last; ++row) {
    for (std::int64_t column = columns.first; column < columns.last; ++column) visit(row, column);
  }
}

// ---- maximum ------------------------------------------------------------------------------------

/// A dilated window may touch nothing but padding: then the pixel is -1.
template <class Value>
struct LargestPixel {
  Value value = -std::numeric_limits<Value>::infinity();
  std::int64_t pixel = -1;
};

/// The first largest element of a window, or the last NaN. at(row, column) reads its plane.
template <class Value, class At>
constexpr LargestPixel<Value> largest_in_window(const PoolPlan& plan, std::int64_t row,
                                                std::int64_t column, const At& at) {
  const PoolAxis& rows = plan.rows;
  const PoolAxis& columns = plan.columns;
  const std::int64_t top = row * rows.stride - rows.padding;
  const std::int64_t left = column * columns.stride - columns.padding;
  LargestPixel<Value> largest;
  for (std::int64_t y = top; y < top + rows.kernel * rows.dilation; y += rows.dilation) {
    if (y < 0 || y >= rows.in) continue;
    for (std::int64_t x = left; x < left + columns.kernel * columns.dilation;
         x += columns.dilation) {
      if (x < 0 || x >= columns.in) continue;
      const Value value = at(y, x);
      if (largest.pixel < 0 || value > largest.value || value != value) {
        largest = {value, y * columns.in + x};
      }
    }
  }
  return largest;
}

/// chosen(row, column) is the pixel that the window's maximum came from, grad(row, column) its
/// gradient.
template <class Sum, class Chosen, class Grad>
constexpr Sum slope_of_maxima(const PoolPlan& plan, std::int64_t pixel, const Chosen& chosen,
                              const Grad& grad) {
  Sum sum = 0;
  for_each_window(sliding_windows_with(plan.rows, pixel / plan.columns.in),
                  sliding_windows_with(plan.columns, pixel % plan.columns.in),
                  [&](std::int64_t row, std::int64_t column) {
                    if (chosen(row, column) == pixel) sum += grad(row, column);
                  });
  return sum;
}

/// A row is a window. Operands: its maximum, the pixel within the plane that it came from, the
/// images.
struct PooledMaximum {
  static constexpr const char* kKernel = "pooled_maximum";
  PoolPlan plan;
  PlaneLayout out;  ///< of the maxima and of their pixels
  PlaneLayout images;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t plane = number / plan.out_pixels();
    const std::int64_t window = number % plan.out_pixels();
    const std::int64_t row = window / plan.columns.out;
    const std::int64_t column = window % plan.columns.out;
    const std::int64_t first = images.start(plane);
    team.once([&] {
      const LargestPixel<Compute> largest =
          largest_in_window<Compute>(plan, row, column, [&](std::int64_t y, std::int64_t x) {
            return team.template load<Compute>(launch.operands[2], first + images.step(y, x));
          });
      const std::int64_t place = out.start(plane) + out.step(row, column);
      team.store(launch.operands[0], place, largest.value);
      team.store(launch.operands[1], place, largest.pixel);
    });
  }
};

/// A row is a pixel of the images. Operands: its gradient, those of the maxima, the pixels that
/// they came from.
struct PooledMaximumBackward {
  static constexpr const char* kKernel = "pooled_maximum_backward";
  PoolPlan plan;
  PlaneLayout images;
  PlaneLayout maxima;  ///< of their gradients and of their pixels

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t plane = number / plan.in_pixels();
    const std::int64_t pixel = number % plan.in_pixels();
    const std::int64_t first = maxima.start(plane);
    team.once([&] {
      const auto slope = slope_of_maxima<Compute>(
          plan, pixel,
          [&](std::int64_t row, std::int64_t column) {
            return team.template load<std::int64_t>(launch.operands[2],
                                                    first + maxima.step(row, column));
          },
          [&](std::int64_t row, std::int64_t column) {
            return team.template load<Compute>(launch.operands[1],
                                               first + maxima.step(row, column));
          });
      team.store(
          launch.operands[0],
          images.start(plane) + images.step(pixel / plan.columns.in, pixel % plan.columns.in),
          slope);
    });
  }
};

// ---- averages -----------------------------------------------------------------------------------

enum class PoolWindows : std::uint8_t { sliding, adaptive };

/// What one window has of a dimension: of the image, and how many elements it has with the padding.
struct PoolSpan {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t padded = 0;

  constexpr std::int64_t size() const { return last - first; }
};

constexpr PoolSpan span_of_window(PoolWindows windows, const PoolAxis& axis,
                                  std::int64_t position) {
  if (windows == PoolWindows::adaptive) {
    const std::int64_t first = position * axis.in / axis.out;
    const std::int64_t last = ((position + 1) * axis.in + axis.out - 1) / axis.out;
    return {first, last, last - first};
  }
  const std::int64_t first = position * axis.stride - axis.padding;
  const std::int64_t end = axis.in + axis.padding;
  const std::int64_t last = first + axis.kernel < end ? first + axis.kernel : end;
  return {first < 0 ? 0 : first, last < axis.in ? last : std::int64_t{axis.in}, last - first};
}

struct AveragePlan {
  PoolPlan plan;
  PoolWindows windows = PoolWindows::sliding;
  bool counts_padding = true;
  std::int64_t divisor = 0;  ///< 0: the number of elements

  constexpr PoolSpan span(const PoolAxis& axis, std::int64_t position) const {
    return span_of_window(windows, axis, position);
  }
  constexpr PoolRange windows_with(const PoolAxis& axis, std::int64_t position) const {
    if (windows == PoolWindows::sliding) return sliding_windows_with(axis, position);
    return {position * axis.out / axis.in, ((position + 1) * axis.out + axis.in - 1) / axis.in};
  }
  constexpr std::int64_t divisor_of(const PoolSpan& rows, const PoolSpan& columns) const {
    if (divisor != 0) return divisor;
    return counts_padding ? rows.padded * columns.padded : rows.size() * columns.size();
  }
};

/// What the pixel has of the gradients of all averages that it is in.
template <class Sum, class Grad>
constexpr Sum slope_of_averages(const AveragePlan& average, std::int64_t pixel, const Grad& grad) {
  const PoolAxis& rows = average.plan.rows;
  const PoolAxis& columns = average.plan.columns;
  Sum sum = 0;
  for_each_window(average.windows_with(rows, pixel / columns.in),
                  average.windows_with(columns, pixel % columns.in),
                  [&](std::int64_t row, std::int64_t column) {
                    const std::int64_t divisor =
                        average.divisor_of(average.span(rows, row), average.span(columns, column));
                    sum += grad(row, column) / static_cast<Sum>(divisor);
                  });
  return sum;
}

/// A row is a window. Operands: its average, the images.
struct PooledAverage {
  static constexpr const char* kKernel = "pooled_average";
  AveragePlan average;
  PlaneLayout out;
  PlaneLayout images;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const PoolPlan& plan = average.plan;
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t plane = number / plan.out_pixels();
    const std::int64_t window = number % plan.out_pixels();
    const std::int64_t row = window / plan.columns.out;
    const std::int64_t column = window % plan.columns.out;
    const PoolSpan rows = average.span(plan.rows, row);
    const PoolSpan columns = average.span(plan.columns, column);
    const std::int64_t first = images.start(plane) + images.step(rows.first, columns.first);
    const std::int64_t width = columns.size();
    const Compute sum = team.sum(rows.size() * width, [&](std::int64_t i) {
      return team.template load<Compute>(launch.operands[1],
                                         first + images.step(i / width, i % width));
    });
    team.once([&] {
      team.store(launch.operands[0], out.start(plane) + out.step(row, column),
                 sum / static_cast<Compute>(average.divisor_of(rows, columns)));
    });
  }
};

/// A row is a pixel of the images. Operands: its gradient, those of the averages.
struct PooledAverageBackward {
  static constexpr const char* kKernel = "pooled_average_backward";
  AveragePlan average;
  PlaneLayout images;
  PlaneLayout averages;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const PoolPlan& plan = average.plan;
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t plane = number / plan.in_pixels();
    const std::int64_t pixel = number % plan.in_pixels();
    const std::int64_t first = averages.start(plane);
    team.once([&] {
      const auto slope =
          slope_of_averages<Compute>(average, pixel, [&](std::int64_t row, std::int64_t column) {
            return team.template load<Compute>(launch.operands[1],
                                               first + averages.step(row, column));
          });
      team.store(
          launch.operands[0],
          images.start(plane) + images.step(pixel / plan.columns.in, pixel % plan.columns.in),
          slope);
    });
  }
};

// ---- what the kernels are verified with ---------------------------------------------------------

inline constexpr PoolPlan kVerifiedPooling{
    .planes = 5, .rows = {5, 3, 3, 2, 1, 1}, .columns = {5, 3, 2, 2, 1, 2}};
inline constexpr AveragePlan kVerifiedAverage{
    .plan = {.planes = 5, .rows = {5, 3}, .columns = {5, 3}}, .windows = PoolWindows::adaptive};
inline constexpr PlaneLayout kVerifiedImages = of_verified_planes(5, 5);
inline constexpr PlaneLayout kVerifiedWindows = of_verified_planes(3, 3);

}  // namespace ohm::functors
