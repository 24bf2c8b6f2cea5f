#include "runtime/ops/pooling/average_pool.h"

#include <optional>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/functors/pooling.h"
#include "runtime/kernels/launch/row_kernels.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/convolution/conv_sizes.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/pooling/cuda/pooling.h"
#include "runtime/ops/pooling/pooled_images.h"
#include "runtime/ops/pooling/pooling_gradients.h"
#include "runtime/ops/pooling/pooling_sizes.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

using functors::AveragePlan;
using functors::PoolAxis;
using functors::PoolPlan;
using functors::PoolSpan;
using functors::PoolWindows;

constexpr OpInfo kAvgPool{"avg_pool2d"};
constexpr OpInfo kAdaptiveAvgPool{"adaptive_avg_pool2d"};

// What cuDNN can be asked for: sliding windows that end inside the padded image.
std::optional<CudaAverage> average_for_cuda(const AveragePlan& average) {
  const PoolPlan& plan = average.plan;
  const auto ends_inside = [](const PoolAxis& axis) {
    return (axis.out - 1) * axis.stride + axis.kernel <= axis.in + 2 * axis.padding;
  };
  const bool fits = average.windows == PoolWindows::sliding && average.divisor == 0 &&
                    ends_inside(plan.rows) && ends_inside(plan.columns);
  if (!fits) return std::nullopt;
  const auto windows = [](const PoolAxis& axis) {
    return CudaWindows{axis.kernel, axis.padding, axis.stride};
  };
  return CudaAverage{plan.planes, windows(plan.rows), windows(plan.columns),
                     average.counts_padding};
}

bool are_row_major(const Tensor& images, const Tensor& averages) {
  return images.is_contiguous() && averages.is_contiguous();
}

functors::PooledAverage functor_of(const AveragePlan& average, const Tensor& input,
                                   const Tensor& out) {
  return {average, plane_layout_of(out), plane_layout_of(input)};
}

bool is_averaged_on_cuda(const AveragePlan& average, const Tensor& input, const Tensor& out) {
  const std::optional<CudaAverage> asked =
      are_row_major(input, out) ? average_for_cuda(average) : std::nullopt;
  if (asked && average_on_cuda(*asked, input, out) == CudaResult::done) return true;
  return are_rows_done_on_cuda(functor_of(average, input, out), input.dtype(), threads_for(out),
                               {{out}, {input}});
}

void compute_average(const AveragePlan& average, const Tensor& input, const Tensor& out) {
  if (!out.has_values() || is_averaged_on_cuda(average, input, out)) return;
  const PoolPlan& plan = average.plan;
  const functors::PooledAverage averages = functor_of(average, input, out);
  visit_floating(input.dtype(), [&]<class T>(TypeTag<T>) {
    using Compute = ComputeType<T>;
    for (std::int64_t plane = 0; plane < plan.planes; ++plane) {
      const T* const source = input.data<const T>() + averages.images.start(plane);
      T* const target = out.data<T>() + averages.out.start(plane);
      const auto average_window = [&](std::int64_t row, std::int64_t column) {
        const PoolSpan rows = average.span(plan.rows, row);
        const PoolSpan columns = average.span(plan.columns, column);
        Compute sum = 0;
        for (std::int64_t y = rows.first; y < rows.last; ++y) {
          for (std::int64_t x = columns.first; x < columns.last; ++x) {
            sum += convert_element<Compute>(source[averages.images.step(y, x)]);
          }
        }
        target[averages.out.step(row, column)] =
            convert_element<T>(sum / static_cast<Compute>(average.divisor_of(rows, columns)));
      };
      functors::for_each_window({0, plan.rows.out}, {0, plan.columns.out}, average_window);
    }
  });
}

functors::PooledAverageBackward average_backward(const AveragePlan& average, const Tensor& grad,
                                                 const Tensor& out) {
  return {average, plane_layout_of(out), plane_layout_of(grad)};
}

bool is_gradient_found_on_cuda(const AveragePlan& average, const Tensor& grad, const Tensor& out) {
  const std::optional<CudaAverage> asked =
      are_row_major(out, grad) ? average_for_cuda(average) : std::nullopt;
  if (asked && average_gradient_on_cuda(*asked, grad, out) == CudaResult::done) return true;
  return are_rows_done_on_cuda(average_backward(average, grad, out), grad.dtype(), threads_for(out),
                               {{out}, {grad}});
}

void compute_average_gradient(const AveragePlan& average, const Tensor& grad, const Tensor& out) {
  if (!out.has_values() || is_gradient_found_on_cuda(average, grad, out)) return;
  const functors::PlaneLayout averages = plane_layout_of(grad);
  visit_floating(out.dtype(), [&]<class T>(TypeTag<T>) {
    using Compute = ComputeType<T>;
    const T* of_averages = grad.data<const T>();
    fill_planes<T>(average.plan, out, [&](std::int64_t plane, std::int64_t pixel) {
      const T* const incoming = of_averages + averages.start(plane);
      return functors::slope_of_averages<Compute>(
          average, pixel, [&](std::int64_t row, std::int64_t column) {
            return convert_element<Compute>(incoming[averages.step(row, column)]);
          });
    });
  });
}

// The adaptive kernel for channels that lie last reads any strides; all others are given copies.
Tensor average_gradient(const AveragePlan& average, const Tensor& given, const Tensor& input) {
  const MemoryFormat format = memory_format_of(input);
  Tensor out = empty(input.shape(), options_of(given), format);
  if (average.windows == PoolWindows::sliding) {
    const Tensor images = laid_out(input, format);  // as PyTorch has it
    compute_average_gradient(average, laid_out(given, format), out);
  } else {
    const bool is_any_read = format == MemoryFormat::channels_last;
    compute_average_gradient(average, is_any_read ? given : laid_out(given, format), out);
  }
  return out;
}

// The adaptive kernel has its copy made before the result, or reads any strides where the channels
// lie last.
Tensor averages_of(const AveragePlan& average, const Tensor& input) {
  const MemoryFormat format = memory_format_of(input);
  const Shape shape = pooled_shape(input.shape(), average.plan);
  if (average.windows == PoolWindows::sliding) {
    Tensor out = empty(shape, options_of(input), format);
    compute_average(average, laid_out(input, format), out);
    return out;
  }
  const bool is_any_read = format == MemoryFormat::channels_last || input.dims() == 3;
  const Tensor images = is_any_read ? input : laid_out(input, format);
  Tensor out = empty(shape, options_of(input), format);
  compute_average(average, images, out);
  return out;
}

constexpr AverageNodes kSlidingNodes{"AvgPool2DBackward", "AvgPool2DBackwardBackward"};
constexpr AverageNodes kAdaptiveNodes{"AdaptiveAvgPool2DBackward",
                                      "AdaptiveAvgPool2DBackwardBackward"};

Tensor average_pool(const AveragePlan& average, const AverageNodes& nodes, const Tensor& input);

Tensor recorded_average_gradient(const AveragePlan& average, const AverageNodes& nodes,
                                 const Tensor& grad, const Tensor& input) {
  Tensor out = average_gradient(average, grad, input);
  record_average_gradient(
      nodes.backward_twice, out, grad, input,
      [average, nodes](const Tensor& again) { return average_pool(average, nodes, again); });
  return out;
}

Tensor average_pool(const AveragePlan& average, const AverageNodes& nodes, const Tensor& input) {
  Recorder record(nodes.backward, {&input});
  record.save(input);
  Tensor out = averages_of(average, input);
  record.attach_differentiable(out, [average, nodes](BackwardCall& call) {
    return TensorList{recorded_average_gradient(average, nodes, call.grad(), call.saved(0))};
  });
  return out;
}

}  // namespace

Tensor with_channels_last(const Tensor& means) {
  Shape strides(means.dims(), means.shape()[1]);
  strides[1] = 1;
  Tensor out = make_view(means, means.shape(), strides, means.impl()->offset);
  out.impl()->is_view = false;  // nothing else looks at the means
  if (Recorder record("AsStridedBackward", {&means}); record.is_needed()) {
    record.attach_differentiable(out, [](BackwardCall& call) {
      if (call.is_recorded()) return TensorList{call.grad()};
      Tensor grad = empty(call.grad().shape(), options_of(call.grad()));
      copy_into(grad, call.grad());
      return TensorList{grad};
    });
  }
  return out;
}

Tensor avg_pool2d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, bool ceil_mode, bool count_include_pad,
                  std::optional<std::int64_t> divisor_override) {
  const OpFront front(kAvgPool);
  if (divisor_override == 0) {
    throw std::invalid_argument("[avg_pool2d] divisor must be not zero");
  }
  const PoolPlan plan =
      image_plan(kAvgPool, input, {kernel_size, stride, padding, Shape{1}, ceil_mode});
  const AveragePlan average{plan, PoolWindows::sliding, count_include_pad,
                            divisor_override.value_or(0)};
  return average_pool(average, kSlidingNodes, input);
}

Tensor adaptive_avg_pool2d(const Tensor& input, const Shape& output_size) {
  const OpFront front(kAdaptiveAvgPool);
  require_image(kAdaptiveAvgPool, input);
  require_pair(kAdaptiveAvgPool, output_size, 1, "output_size");
  if (size_at(output_size, 0) == 1 && size_at(output_size, 1) == 1) {
    const Tensor means = mean(input, Shape{-1, -2}, true);
    const bool are_last = memory_format_of(input) == MemoryFormat::channels_last;
    return are_last ? with_channels_last(means) : means;
  }
  PoolPlan plan = image_plan(input.shape());
  plan.rows.out = size_at(output_size, 0);
  plan.columns.out = size_at(output_size, 1);
  return average_pool({plan, PoolWindows::adaptive, true, 0}, kAdaptiveNodes, input);
}

std::vector<OpDef> average_pool_ops() {
  return {
      define(kAvgPool, kCppFunctional, &avg_pool2d,
             {"input",
              "kernel_size",
              "stride",
              {"padding", Shape{0}},
              {"ceil_mode", false},
              {"count_include_pad", true},
              "divisor_override"}),
      define(kAdaptiveAvgPool, kFunctional, &adaptive_avg_pool2d, {"input", "output_size"}),
  };
}

}  // namespace ohm::ops
