// The layout of images in memory: for nvcc and the host alike.
#pragma once

#include <cstdint>

#include "runtime/base/divisor.h"

namespace ohm::functors {

/// Planes of pixels [N, C, H, W] or [C, H, W], numbered in row-major order, whatever their strides.
/// All but the number of channels are in elements.
struct PlaneLayout {
  Divisor channels = 1;
  std::int64_t image = 0;
  std::int64_t channel = 0;
  std::int64_t row = 0;
  std::int64_t column = 1;

  /// Of a plane's first pixel.
  constexpr std::int64_t start(std::int64_t plane) const {
    const std::int64_t number = plane / channels;
    return number * image + (plane - number * channels) * channel;
  }
  /// From there to another pixel of the plane.
  constexpr std::int64_t step(std::int64_t y, std::int64_t x) const { return y * row + x * column; }
};

// To verify kernels with: five planes whose channels come last.
inline constexpr PlaneLayout of_verified_planes(std::int64_t height, std::int64_t width) {
  return {5, height * width * 5, 1, width * 5, 5};
}

}  // namespace ohm::functors
