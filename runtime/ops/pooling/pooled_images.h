// The common part of pooling over images [N, C, H, W] or [C, H, W]: plans, shapes, loops over
// planes.
#pragma once

#include <cstdint>

#include "runtime/base/compute_dtype.h"
#include "runtime/kernels/functors/pooling.h"
#include "runtime/kernels/launch/row_kernels.h"
#include "runtime/ops/op_info.h"
#include "runtime/ops/pooling/pooling_sizes.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// Throws std::invalid_argument for what is not an image with pixels.
void require_image(const OpInfo& info, const Tensor& input);

/// Planes and pixels of images, without windows.
functors::PoolPlan image_plan(const Shape& shape);
/// The same with windows of these sizes. Throws std::invalid_argument where they do not fit.
functors::PoolPlan image_plan(const OpInfo& info, const Tensor& input, const PoolSizes& sizes);

/// The shape of what is pooled from images of this shape.
Shape pooled_shape(const Shape& shape, const functors::PoolPlan& plan);

/// A thread for each element: windows are small, and there are many of them.
inline RowShape threads_for(const Tensor& out) {
  return {.count = out.numel(), .are_threads = true};
}

/// Fills the planes of `images` with grad_at(plane, pixel), which is computed in the compute type
/// of the images.
template <class T, class GradAt>
void fill_planes(const functors::PoolPlan& plan, const Tensor& images, const GradAt& grad_at) {
  const functors::PlaneLayout layout = plane_layout_of(images);
  for (std::int64_t plane = 0; plane < plan.planes; ++plane) {
    T* const target = images.data<T>() + layout.start(plane);
    std::int64_t pixel = 0;
    functors::for_each_window(
        {0, plan.rows.in}, {0, plan.columns.in}, [&](std::int64_t row, std::int64_t column) {
          target[layout.step(row, column)] = convert_element<T>(grad_at(plane, pixel++));
        });
  }
}

}  // namespace ohm::ops
