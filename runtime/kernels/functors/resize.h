// Images of another size: functors of rows, as in rows.h. A row is an element of the result.
#pragma once

#include <cmath>

#include "runtime/kernels/functors/plane_layout.h"
#include "runtime/kernels/functors/row_launch.h"

namespace ohm::functors {

/// Where one element of the output gets its value along one dimension, and how much from each; an
/// element may be there twice.
struct ResizeSource {
  int count = 0;
  std::int64_t places[4] = {};
  double weights[4] = {};

  constexpr void add(std::int64_t place, double weight) {
    places[count] = place;
    weights[count++] = weight;
  }
  constexpr double weight_of(std::int64_t place) const {
    double weight = 0.0;
    for (int i = 0; i < count; ++i) weight += places[i] == place ? weights[i] : 0.0;
    return weight;
  }
};

/// The cubic that PyTorch takes, at a distance of less than 1, or of 1 to 2.
constexpr double cubic_near(double x) { return (1.25 * x - 2.25) * x * x + 1.0; }
constexpr double cubic_far(double x) { return ((-0.75 * x + 3.75) * x - 6.0) * x + 3.0; }

struct ResizedAxis {
  std::int64_t from = 0;
  std::int64_t to = 0;
  double step = 0.0;  ///< elements of the input for one of the output
  bool is_nearest = false;
  bool are_corners_aligned = false;
  bool is_cubic = false;  ///< else, where it is not nearest: linear

  constexpr ResizeSource source(std::int64_t i) const {
    const auto number = static_cast<double>(i);
    const std::int64_t last = from - 1;
    ResizeSource source;
    if (is_nearest) {
      const auto at = static_cast<std::int64_t>(std::floor(number * step));
      source.add(at < last ? at : last, 1.0);
      return source;
    }
    double at = are_corners_aligned ? number * step : (number + 0.5) * step - 0.5;
    if (is_cubic) return cubic_source(at);
    if (at < 0.0) at = 0.0;
    const auto below = static_cast<std::int64_t>(at);
    const std::int64_t first = below < last ? below : last;
    const double share = at - static_cast<double>(first);
    source.add(first, 1.0 - share);
    source.add(first + 1 < last ? first + 1 : last, share);
    return source;
  }
  constexpr ResizeSource cubic_source(double at) const {
    const double below = std::floor(at);
    const auto first = static_cast<std::int64_t>(below);
    const double share = at - below;
    ResizeSource source;
    source.add(within(first - 1), cubic_far(share + 1.0));
    source.add(within(first), cubic_near(share));
    source.add(within(first + 1), cubic_near(1.0 - share));
    source.add(within(first + 2), cubic_far(2.0 - share));
    return source;
  }
  constexpr std::int64_t within(std::int64_t place) const {
    return place < 0 ? 0 : place < from ? place : from - 1;
  }
  // No element of the output outside of these takes anything from `place`.
  constexpr std::int64_t begin(std::int64_t place) const {
    const double at = step == 0.0 ? 0.0 : (static_cast<double>(place) - reach()) / step - 2.0;
    return at > 0.0 ? static_cast<std::int64_t>(at) : 0;
  }
  constexpr std::int64_t end(std::int64_t place) const {
    if (step == 0.0) return to;
    const double at = (static_cast<double>(place) + reach()) / step + 2.0;
    return at < static_cast<double>(to) ? static_cast<std::int64_t>(at) : to;
  }
  constexpr double reach() const { return is_cubic ? 3.0 : 2.0; }
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
    for (int row = 0; row < y.count; ++row) {
      for (int column = 0; column < x.count; ++column) {
        const double weight = y.weights[row] * x.weights[column];
        // What takes no part may be infinite.
        if (weight == 0.0) continue;
        const std::int64_t from = start + images.step(y.places[row], x.places[column]);
        sum += weight * team.template load<double>(launch.operands[1], from);
      }
    }
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
inline constexpr ResizedAxis kVerifiedWidth{5, 7, 4.0 / 6.0, false, true, true};
inline constexpr PlaneLayout kVerifiedUnresized = of_verified_planes(6, 5);
inline constexpr PlaneLayout kVerifiedResized = of_verified_planes(4, 7);

}  // namespace ohm::functors
