// The common part of pooling over volumes [N, C, D, H, W] or [C, D, H, W]: axes, places, loops.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/compute_dtype.h"
#include "runtime/kernels/functors/pooling.h"
#include "runtime/ops/op_info.h"
#include "runtime/ops/pooling/pooling_sizes.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// One for the depth, the height and the width.
using VolumeAxes = std::array<functors::PoolAxis, 3>;

/// The axes of volumes, without windows. Throws std::invalid_argument for what is not a volume with
/// pixels.
VolumeAxes volume_axes(const OpInfo& info, const Tensor& input);
/// The same with windows of these sizes. Throws std::invalid_argument where they do not fit.
VolumeAxes volume_axes(const OpInfo& info, const Tensor& input, const PoolSizes& sizes);

/// The shape of what is pooled from volumes of this shape.
Shape shape_of_pooled_volumes(const Shape& shape, const VolumeAxes& axes);

/// A place in a volume, or in what is pooled from it.
using Place = std::array<std::int64_t, 3>;

/// Where the volumes of a tensor begin, and the places in them lie.
class VolumeLayout {
 public:
  explicit VolumeLayout(const Tensor& tensor) {
    const Shape& strides = tensor.strides();
    const int depth = tensor.dims() - 3;
    for (int i = 0; i < 3; ++i) steps_[static_cast<std::size_t>(i)] = strides[depth + i];
    channels_ = tensor.shape()[depth - 1];
    channel_ = strides[depth - 1];
    image_ = depth == 2 ? strides[0] : 0;
    volumes_ = channels_ * (depth == 2 ? tensor.shape()[0] : 1);
  }

  std::int64_t volumes() const { return volumes_; }
  std::int64_t at(std::int64_t volume, const Place& place) const {
    return volume / channels_ * image_ + volume % channels_ * channel_ + place[0] * steps_[0] +
           place[1] * steps_[1] + place[2] * steps_[2];
  }

 private:
  std::int64_t volumes_ = 0;
  std::int64_t channels_ = 1;
  std::int64_t image_ = 0;
  std::int64_t channel_ = 0;
  Place steps_ = {};
};

/// Calls visit(place) for each place of a volume with these sizes.
template <class Visit>
void for_each_place(const Place& sizes, const Visit& visit) {
  Place place = {};
  for (place[0] = 0; place[0] < sizes[0]; ++place[0]) {
    for (place[1] = 0; place[1] < sizes[1]; ++place[1]) {
      for (place[2] = 0; place[2] < sizes[2]; ++place[2]) visit(place);
    }
  }
}

inline Place in_sizes(const VolumeAxes& axes) { return {axes[0].in, axes[1].in, axes[2].in}; }
inline Place out_sizes(const VolumeAxes& axes) { return {axes[0].out, axes[1].out, axes[2].out}; }

/// The number of a pixel in row-major order.
inline std::int64_t pixel_number(const VolumeAxes& axes, const Place& place) {
  return (place[0] * axes[1].in + place[1]) * axes[2].in + place[2];
}

/// Fills each volume of `out` with what add(volume, sums) adds to zeros, which are numbered in
/// row-major order.
template <class T, class Add>
void fill_with_sums(const VolumeAxes& axes, const Tensor& out, const Add& add) {
  using Compute = ComputeType<T>;
  const VolumeLayout layout(out);
  const Place sizes = in_sizes(axes);
  std::vector<Compute> sums(static_cast<std::size_t>(sizes[0] * sizes[1] * sizes[2]));
  for (std::int64_t volume = 0; volume < layout.volumes(); ++volume) {
    std::fill(sums.begin(), sums.end(), Compute(0));
    add(volume, sums);
    std::size_t next = 0;
    for_each_place(sizes, [&](const Place& place) {
      out.data<T>()[layout.at(volume, place)] = convert_element<T>(sums[next++]);
    });
  }
}

}  // namespace ohm::ops
