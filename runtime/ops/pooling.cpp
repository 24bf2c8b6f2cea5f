#include "runtime/ops/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/kernels/functors/pooling.h"
#include "runtime/kernels/launch/row_kernels.h"
#include "runtime/ops/conv_sizes.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/cuda/pooling.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/joined_samples.h"
#include "runtime/ops/pointwise_kernel.h"
#include "runtime/ops/pooling_sizes.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/batched.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

using functors::AveragePlan;
using functors::PoolAxis;
using functors::PoolPlan;
using functors::PoolSpan;
using functors::PoolWindows;

constexpr OpInfo kMaxPool{"max_pool2d"};
constexpr OpInfo kAvgPool{"avg_pool2d"};
constexpr OpInfo kAdaptiveAvgPool{"adaptive_avg_pool2d"};

void require_image(const OpInfo& info, const Tensor& input) {
  require_floating(input, info);
  const int dims = input.dims();
  const bool is_image = dims == 3 || dims == 4;
  if (is_image && input.shape()[dims - 1] > 0 && input.shape()[dims - 2] > 0) return;
  throw std::invalid_argument(
      fmt::format("[{}] expected [N, C, H, W] or [C, H, W] with pixels, but got {}", info.name,
                  input.shape().str()));
}

PoolPlan plan_for_image(const Shape& shape) {
  PoolPlan plan;
  for (int dim = 0; dim < shape.dims() - 2; ++dim) plan.planes *= shape[dim];
  plan.rows.in = shape[shape.dims() - 2];
  plan.columns.in = shape.back();
  return plan;
}

PoolPlan plan_for(const OpInfo& info, const Tensor& input, const PoolSizes& sizes) {
  require_image(info, input);
  PoolPlan plan = plan_for_image(input.shape());
  set_windows(info, sizes, {&plan.rows, &plan.columns});
  return plan;
}

// A thread for each element: windows are small, and there are many of them.
RowShape threads_for(const Tensor& out) { return {.count = out.numel(), .are_threads = true}; }

Shape pooled_shape(const Shape& shape, const PoolPlan& plan) {
  Shape pooled = shape;
  pooled[shape.dims() - 2] = plan.rows.out;
  pooled[shape.dims() - 1] = plan.columns.out;
  return pooled;
}

// ---- maximum ------------------------------------------------------------------------------------

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

/// What max_pool2d makes; `plan` is of one sample.
struct Maxima {
  Tensor out;
  Tensor indices;
};

Maxima maxima_of(const PoolPlan& plan, const Tensor& input) {
  if (const AllSamples all({&input}); all) {
    PoolPlan of_all = plan;
    of_all.planes *= all.count();
    const Maxima made = maxima_of(of_all, join_samples(all.of(input), 0));
    return {all.one(split_samples(made.out, 0, all.count())),
            all.one(split_samples(made.indices, 0, all.count()))};
  }
  const Shape shape = pooled_shape(input.shape(), plan);
  const MemoryFormat format = memory_format_of(input);
  Maxima made;
  made.out = empty(shape, options_of(input), format);
  made.indices = empty(shape, {DType::int64, input.device()}, format);
  compute_max_pool(plan, input, made.out, made.indices);
  return made;
}

// grad_at(plane, pixel) is computed in the compute type of the images.
template <class T, class GradAt>
void fill_planes(const PoolPlan& plan, const Tensor& images, const GradAt& grad_at) {
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

Tensor max_pool_gradient(const PoolPlan& plan, const Tensor& given, const Tensor& input,
                         const Tensor& indices) {
  if (const AllSamples all({&given, &input, &indices}); all) {
    PoolPlan of_all = plan;
    of_all.planes *= all.count();
    const auto joined = [&](const Tensor& one) { return join_samples(all.repeated(one), 0); };
    const Tensor out = max_pool_gradient(of_all, joined(given), joined(input), joined(indices));
    return all.one(split_samples(out, 0, all.count()));
  }
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

// Its gradient is what stands where the maxima were.
Tensor recorded_max_pool_gradient(const PoolPlan& plan, const Tensor& grad, const Tensor& input,
                                  const Tensor& indices) {
  Tensor out = max_pool_gradient(plan, grad, input, indices);
  if (Recorder record("MaxPool2DBackwardBackward", {&grad, &input}); record.is_needed()) {
    record.save(indices);
    record.attach_differentiable(
        out, [shape = input.shape(), options = options_of(input)](BackwardCall& call) {
          TensorList grads(2);
          const Tensor places = call.saved(0);
          if (call.needs(0)) grads[0] = found_at_maxima(call.grad(), places, 2);
          if (call.needs(1)) grads[1] = zeros(shape, options);
          return grads;
        });
  }
  return out;
}

// ---- averages -----------------------------------------------------------------------------------

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

struct AverageNodes {
  std::string_view backward;
  std::string_view backward_twice;
};
constexpr AverageNodes kSlidingNodes{"AvgPool2DBackward", "AvgPool2DBackwardBackward"};
constexpr AverageNodes kAdaptiveNodes{"AdaptiveAvgPool2DBackward",
                                      "AdaptiveAvgPool2DBackwardBackward"};

Tensor average_pool(const AveragePlan& average, const AverageNodes& nodes, const Tensor& input);

// Of what is linear: its gradient pools again, and does not depend on the images.
Tensor recorded_average_gradient(const AveragePlan& average, const AverageNodes& nodes,
                                 const Tensor& grad, const Tensor& input) {
  Tensor out = average_gradient(average, grad, input);
  if (Recorder record(nodes.backward_twice, {&grad, &input}); record.is_needed()) {
    record.attach_differentiable(out, [average, nodes, shape = input.shape(),
                                       options = options_of(input)](BackwardCall& call) {
      TensorList grads(2);
      if (call.needs(0)) grads[0] = average_pool(average, nodes, call.grad());
      if (call.needs(1)) grads[1] = zeros(shape, options);
      return grads;
    });
  }
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

std::vector<Sample> images_to_maximise() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Value missing;
  return {
      {randn({2, 2, 4, 6}, options), Shape{2}},
      {randn({1, 2, 7, 6}, options), Shape{3, 2}, Shape{2}, Shape{1}, Shape{1, 2}, true},
      {randn({2, 5, 5}, options), Shape{3}, missing, Shape{1}},
  };
}

std::vector<Sample> images_to_average() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Value missing;
  return {
      {randn({2, 2, 4, 6}, options), Shape{2}},
      {randn({1, 2, 7, 6}, options), Shape{3, 2}, Shape{2}, Shape{1}, true, false},
      {randn({2, 5, 5}, options), Shape{3}, missing, Shape{1}, true},
      {randn({2, 5, 5}, options), Shape{3}, missing, Shape{1}, false, true, std::int64_t{4}},
  };
}

std::vector<Sample> images_to_split() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {
      {randn({2, 2, 5, 4}, options), Shape{1}},
      {randn({2, 2, 5, 4}, options), Shape{3, 2}},
      {randn({2, 2, 3}, options), Shape{4}},
  };
}

Value max_pool2d_row(const Tensor& input, const Shape& kernel_size,
                     const std::optional<Shape>& stride, const Shape& padding,
                     const Shape& dilation, bool ceil_mode, bool return_indices) {
  return maxima_as_asked(
      max_pool2d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode),
      return_indices);
}

}  // namespace

Tensor found_at_maxima(const Tensor& images, const Tensor& indices, int dims) {
  Shape rows;
  for (int dim = 0; dim < indices.dims() - dims; ++dim) rows.push_back(indices.shape()[dim]);
  rows.push_back(-1);
  const Tensor places = view(indices, rows);
  const Tensor pixels = Context::current().rules.pool_indices_read_images_as_they_lie
                            ? reshape(images, rows)
                            : view(contiguous(images, memory_format_of(indices)), rows);
  return view(gather(pixels, -1, places), indices.shape());
}

Value maxima_as_asked(const PooledMaxima& maxima, bool with_indices) {
  if (with_indices) return std::vector<Tensor>{maxima.first, maxima.second};
  return maxima.first;
}

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

PooledMaxima max_pool2d_with_indices(const Tensor& input, const Shape& kernel_size,
                                     const std::optional<Shape>& stride, const Shape& padding,
                                     const Shape& dilation, bool ceil_mode) {
  const OpFront front(kMaxPool);
  const PoolPlan plan =
      plan_for(kMaxPool, input, {kernel_size, stride, padding, dilation, ceil_mode});
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

Tensor avg_pool2d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, bool ceil_mode, bool count_include_pad,
                  std::optional<std::int64_t> divisor_override) {
  const OpFront front(kAvgPool);
  if (divisor_override == 0) {
    throw std::invalid_argument("[avg_pool2d] divisor must be not zero");
  }
  const PoolPlan plan =
      plan_for(kAvgPool, input, {kernel_size, stride, padding, Shape{1}, ceil_mode});
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
  PoolPlan plan = plan_for_image(input.shape());
  plan.rows.out = size_at(output_size, 0);
  plan.columns.out = size_at(output_size, 1);
  return average_pool({plan, PoolWindows::adaptive, true, 0}, kAdaptiveNodes, input);
}

std::vector<OpDef> pooling_ops() {
  const ParamName padding{"padding", Shape{0}};
  const ParamName ceil_mode{"ceil_mode", false};
  return {
      define(kMaxPool, kFunction | kFunctional, &max_pool2d_row,
             {"input",
              "kernel_size",
              "stride",
              padding,
              {"dilation", Shape{1}},
              ceil_mode,
              {"return_indices", false}},
             images_to_maximise),
      define(kAvgPool, kFunctional, &avg_pool2d,
             {"input",
              "kernel_size",
              "stride",
              padding,
              ceil_mode,
              {"count_include_pad", true},
              "divisor_override"},
             images_to_average),
      define(kAdaptiveAvgPool, kFunctional, &adaptive_avg_pool2d, {"input", "output_size"},
             images_to_split),
  };
}

}  // namespace ohm::ops
