#include "runtime/ops/pooling/pooled_volumes.h"

#include <fmt/core.h>

#include <cstddef>
#include <stdexcept>

#include "runtime/ops/pointwise/binary_kernel.h"

namespace ohm::ops {

VolumeAxes volume_axes(const OpInfo& info, const Tensor& input) {
  require_floating(input, info);
  const int dims = input.dims();
  VolumeAxes axes;
  bool is_volume = dims == 4 || dims == 5;
  for (int i = 0; is_volume && i < 3; ++i) {
    axes[static_cast<std::size_t>(i)].in = input.shape()[dims - 3 + i];
    is_volume = input.shape()[dims - 3 + i] > 0;
  }
  if (is_volume) return axes;
  throw std::invalid_argument(
      fmt::format("[{}] expected [N, C, D, H, W] or [C, D, H, W] with pixels, but got {}",
                  info.name, input.shape().str()));
}

VolumeAxes volume_axes(const OpInfo& info, const Tensor& input, const PoolSizes& sizes) {
  VolumeAxes axes = volume_axes(info, input);
  set_windows(info, sizes, {&axes[0], &axes[1], &axes[2]});
  return axes;
}

Shape shape_of_pooled_volumes(const Shape& shape, const VolumeAxes& axes) {
  Shape pooled = shape;
  for (int i = 0; i < 3; ++i) {
    pooled[shape.dims() - 3 + i] = axes[static_cast<std::size_t>(i)].out;
  }
  return pooled;
}

}  // namespace ohm::ops
