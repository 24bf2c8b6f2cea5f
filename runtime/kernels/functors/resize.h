// Images of another size: functors of rows, as in rows.h. A row is an element of the result.
#pragma once

#include <cmath>

#include "runtime/kernels/functors/plane_layout.h"
#include "runtime/kernels/functors/row_launch.h"

namespace ohm::functors {

/// Where one element of the output gets its value along one dimension: two elements and the share
/// of the second.
struct ResizeSource {
  std::int64_t first;
  std::int64_t second;
  double share;

  constexpr double weight_of(std::int64_t place) const {
    return (place == first ? 1.0 - share : 0.0) + (place == second ? share : 0.0);
  }
};

struct ResizedAxis {
  std::int64_t from = 0;
  std::int64_t to = 0;
  double step = 0.0;  ///< elements of the input for one of the output
  bool is_nearest = false;
  bool are_corners_aligned = false;

  constexpr ResizeSource source(std::int64_t i) const {
    const auto number = static_cast<double>(i);
    const std::int64_t last = from - 1;
    if (is_nearest) {
      const auto at = static_cast<std::int64_t>(std::floor(number * step));
      const std::int64_t place = at < last ? at : last;
      return {place, place, 0.0};
    }
    double at = are_corners_aligned ? number * step : (number + 0.5) * step - 0.5;
    if (at < 0.0) at = 0.0;
    const auto below = static_cast<std::int64_t>(at);
    const std::int64_t first = below < last ? below : last;
    const std::int64_t second = first + 1 < last ? first + 1 : last;
    return {first, second, at - static_cast<double>(first)};
  }
  // No element of the output outside of these takes anything from `place`.
  constexpr std::int64_t begin(std::int64_t place) const {
    const double at = step == 0.0 ? 0.0 : (static_cast<double>(place) - 2.0) / step - 2.0;
    return at > 0.0 ? static_cast<std::int64_t>(at) : 0;
  }
  constexpr std::int64_t end(std::int64_t place) const {
    if (step == 0.0) return to;
    const double at = (static_cast<double>(place) + 2.0) / step + 2.0;
    return at < static_cast<double>(to) ? static_cast<std::int64_t>(at) : to;
  }
};

/// Operands: the result and the images.
struct Resized {
  static constexpr const char* kKernel = "resized";
  ResizedAxis height;
  ResizedAxis width;
  PlaneLayout out;
  PlaneLayout images;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t row_number = number / width.to;
    const std::int64_t plane = row_number / height.to;
    const ResizeSource y = height.source(row_number % height.to);
    const ResizeSource x = width.source(number % width.to);
    const std::int64_t start = images.start(plane);
    double sum = 0.0;
    const auto add = [&](std::int64_t row, std::int64_t column, double weight) {
      // What takes no part may be infinite.
      if (weight == 0.0) return;
      sum +=
          weight * team.template load<double>(launch.operands[1], start + images.step(row, column));
    };
    add(y.first, x.first, (1.0 - y.share) * (1.0 - x.share));
    add(y.first, x.second, (1.0 - y.share) * x.share);
    add(y.second, x.first, y.share * (1.0 - x.share));
    add(y.second, x.second, y.share * x.share);
    const std::int64_t place =
        out.start(plane) + out.step(row_number % height.to, number % width.to);
    team.once([&] { team.store(launch.operands[0], place, sum); });
  }
};

/// A row is an element of the images. Operands: their gradient, that of the result.
struct ResizedBackward {
  static constexpr const char* kKernel = "resized_backward";
  ResizedAxis height;
  ResizedAxis width;
  PlaneLayout images;
  PlaneLayout resized;

  template <class Compute, class Team>
  constexpr void run(const Team& team, const RowLaunch& launch, std::uint64_t row_index) const {
    const auto number = static_cast<std::int64_t>(row_index);
    const std::int64_t column = number % width.from;
    const std::int64_t row = number / width.from % height.from;
    const std::int64_t plane = number / width.from / height.from;
    const std::int64_t start = resized.start(plane);
    double sum = 0.0;
    for (std::int64_t y = height.begin(row); y < height.end(row); ++y) {
      const double of_row = height.source(y).weight_of(row);
      if (of_row == 0.0) continue;
      for (std::int64_t x = width.begin(column); x < width.end(column); ++x) {
        const double weight = of_row * width.source(x).weight_of(column);
        if (weight == 0.0) continue;
        sum += weight * team.template load<double>(launch.operands[1], start + resized.step(y, x));
      }
    }
    const std::int64_t place = images.start(plane) + images.step(row, column);
    team.once([&] { team.store(launch.operands[0], place, sum); });
  }
};

// To verify kernels with.
inline constexpr ResizedAxis kVerifiedHeight{6, 4, 1.5, false, false};
inline constexpr ResizedAxis kVerifiedWidth{5, 7, 4.0 / 6.0, false, true};
inline constexpr PlaneLayout kVerifiedUnresized = of_verified_planes(6, 5);
inline constexpr PlaneLayout kVerifiedResized = of_verified_planes(4, 7);

}  // namespace ohm::functors
