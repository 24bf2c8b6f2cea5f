#include "runtime/ops/pooling/pooled_images.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/ops/pointwise/binary_kernel.h"

namespace ohm::ops {

using functors::PoolPlan;

void require_image(const OpInfo& info, const Tensor& input) {
  require_floating(input, info);
  const int dims = input.dims();
  const bool is_image = dims == 3 || dims == 4;
  if (is_image && input.shape()[dims - 1] > 0 && input.shape()[dims - 2] > 0) return;
  throw std::invalid_argument(
      fmt::format("[{}] expected [N, C, H, W] or [C, H, W] with pixels, but got {}", info.name,
                  input.shape().str()));
}

PoolPlan image_plan(const Shape& shape) {
  PoolPlan plan;
  for (int dim = 0; dim < shape.dims() - 2; ++dim) plan.planes *= shape[dim];
  plan.rows.in = shape[shape.dims() - 2];
  plan.columns.in = shape.back();
  return plan;
}

PoolPlan image_plan(const OpInfo& info, const Tensor& input, const PoolSizes& sizes) {
  require_image(info, input);
  PoolPlan plan = image_plan(input.shape());
  set_windows(info, sizes, {&plan.rows, &plan.columns});
  return plan;
}

Shape pooled_shape(const Shape& shape, const PoolPlan& plan) {
  Shape pooled = shape;
  pooled[shape.dims() - 2] = plan.rows.out;
  pooled[shape.dims() - 1] = plan.columns.out;
  return pooled;
}

}  // namespace ohm::ops
