#include "runtime/ops/pooling/max_pool.h"

#include "runtime/arithmetic/laid_out.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/functors/pooling.h"
#include "runtime/kernels/launch/row_kernels.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/pooling/pooled_images.h"
#include "runtime/ops/pooling/pooling_gradients.h"
#include "runtime/ops/pooling/pooling_sizes.h"

namespace ohm::ops {
namespace {

using functors::PoolPlan;

constexpr OpInfo kMaxPool{"max_pool2d"};

void compute_max_pool(const PoolPlan& plan, const Tensor& given, const Tensor& out,
                      const Tensor& indices) {
  const Tensor input = laid_out(given, memory_format_of(given));
  if (!out.has_values()) return;
  const functors::PooledMaximum maximum{plan, plane_layout_of(out), plane_layout_of(input)};
  if (are_rows_done_on_cuda(maximum, input.dtype(), threads_for(out), {{out, indices}, {input}})) {
    return;
  }
  visit_floating(input.dtype(), [&]<class T>(TypeTag<T>) {
    const T* const elements = input.data<const T>();
    T* const results = out.data<T>();
    auto* const pixels = indices.data<std::int64_t>();
    for (std::int64_t plane = 0; plane < plan.planes; ++plane) {
      const T* const source = elements + maximum.images.start(plane);
      const std::int64_t first = maximum.out.start(plane);
      functors::for_each_window(
          {0, plan.rows.out}, {0, plan.columns.out}, [&](std::int64_t row, std::int64_t column) {
            const auto largest = functors::largest_in_window<ComputeType<T>>(
                plan, row, column, [&](std::int64_t y, std::int64_t x) {
                  return convert_element<ComputeType<T>>(source[maximum.images.step(y, x)]);
                });
            const std::int64_t place = first + maximum.out.step(row, column);
            results[place] = convert_element<T>(largest.value);
            pixels[place] = largest.pixel;
          });
    }
  });
}

/// What max_pool2d makes.
struct Maxima {
  Tensor out;
  Tensor indices;
};

Maxima maxima_of(const PoolPlan& plan, const Tensor& input) {
  const Shape shape = pooled_shape(input.shape(), plan);
  const MemoryFormat format = memory_format_of(input);
  Maxima made;
  made.out = empty(shape, options_of(input), format);
  made.indices = empty(shape, {DType::int64, input.device()}, format);
  compute_max_pool(plan, input, made.out, made.indices);
  return made;
}

Tensor max_pool_gradient(const PoolPlan& plan, const Tensor& given, const Tensor& input,
                         const Tensor& indices) {
  const MemoryFormat format = memory_format_of(input);
  Tensor out = empty(input.shape(), options_of(given), format);
  const Tensor images = laid_out(input, format);  // PyTorch's kernel is given them, too
  const Tensor grad = laid_out(given, format);
  if (!out.has_values()) return out;
  const functors::PooledMaximumBackward backward{plan, plane_layout_of(out), plane_layout_of(grad)};
  if (are_rows_done_on_cuda(backward, grad.dtype(), threads_for(out), {{out}, {grad, indices}})) {
    return out;
  }
  visit_floating(out.dtype(), [&]<class T>(TypeTag<T>) {
    using Compute = ComputeType<T>;
    const T* const of_maxima = grad.data<const T>();
    const auto* const pixels = indices.data<const std::int64_t>();
    fill_planes<T>(plan, out, [&](std::int64_t plane, std::int64_t pixel) {
      const std::int64_t first = backward.maxima.start(plane);
      const auto place = [&](std::int64_t row, std::int64_t column) {
        return first + backward.maxima.step(row, column);
      };
      return functors::slope_of_maxima<Compute>(
          plan, pixel,
          [&](std::int64_t row, std::int64_t column) { return pixels[place(row, column)]; },
          [&](std::int64_t row, std::int64_t column) {
            return convert_element<Compute>(of_maxima[place(row, column)]);
          });
    });
  });
  return out;
}

Tensor recorded_max_pool_gradient(const PoolPlan& plan, const Tensor& grad, const Tensor& input,
                                  const Tensor& indices) {
  Tensor out = max_pool_gradient(plan, grad, input, indices);
  record_maxima_gradient("MaxPool2DBackwardBackward", out, grad, input, indices, 2);
  return out;
}

}  // namespace

Value maxima_as_asked(const PooledMaxima& maxima, bool with_indices) {
  if (with_indices) return std::vector<Tensor>{maxima.first, maxima.second};
  return maxima.first;
}

PooledMaxima max_pool2d_with_indices(const Tensor& input, const Shape& kernel_size,
                                     const std::optional<Shape>& stride, const Shape& padding,
                                     const Shape& dilation, bool ceil_mode) {
  const OpFront front(kMaxPool);
  const PoolPlan plan =
      image_plan(kMaxPool, input, {kernel_size, stride, padding, dilation, ceil_mode});
  Recorder record("MaxPool2DBackward", {&input});
  record.save(input);
  const auto [out, indices] = maxima_of(plan, input);
  record.save(indices);
  record.attach_differentiable(out, [plan](BackwardCall& call) {
    return TensorList{recorded_max_pool_gradient(plan, call.grad(), call.saved(0), call.saved(1))};
  });
  return {out, indices};
}

Tensor max_pool2d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, const Shape& dilation, bool ceil_mode) {
  return max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode).first;
}

std::vector<ParamName> max_pool_parameters() {
  return {"input",
          "kernel_size",
          "stride",
          {"padding", Shape{0}},
          {"dilation", Shape{1}},
          {"ceil_mode", false},
          {"return_indices", false}};
}

std::vector<OpDef> max_pool_ops() {
  return {
      define(kMaxPool, kFunction | kFunctional, &max_pool_row<&max_pool2d_with_indices>,
             max_pool_parameters()),
  };
}

}  // namespace ohm::ops
