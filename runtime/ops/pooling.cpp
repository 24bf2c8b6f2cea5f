#include "runtime/ops/pooling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/ops/card_pooling.h"
#include "runtime/ops/conv_sizes.h"
#include "runtime/ops/pointwise_kernel.h"
#include "runtime/ops/reduction.h"
#include "runtime/tensor/arithmetic.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMaxPool{"max_pool2d"};
constexpr OpInfo kAvgPool{"avg_pool2d"};
constexpr OpInfo kAdaptiveAvgPool{"adaptive_avg_pool2d"};

// Windows along one dimension of the image.
struct Axis {
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
};

struct Plan {
  std::int64_t planes = 1;
  Axis rows;
  Axis columns;

  std::int64_t in_pixels() const { return rows.in * columns.in; }
  std::int64_t out_pixels() const { return rows.out * columns.out; }
};

void require_image(const OpInfo& info, const Tensor& input) {
  require_floating(input, info);
  const int dims = input.dims();
  const bool is_image = dims == 3 || dims == 4;
  if (is_image && input.shape()[dims - 1] > 0 && input.shape()[dims - 2] > 0) return;
  throw std::invalid_argument(
      fmt::format("[{}] expected [N, C, H, W] or [C, H, W] with pixels, but got {}", info.name,
                  input.shape().str()));
}

Plan plan_for_image(const Shape& shape) {
  Plan plan;
  for (int dim = 0; dim < shape.dims() - 2; ++dim) plan.planes *= shape[dim];
  plan.rows.in = shape[shape.dims() - 2];
  plan.columns.in = shape.back();
  return plan;
}

void set_output(const OpInfo& info, Axis& axis, bool ceil_mode) {
  if (axis.padding * 2 > axis.kernel) {
    throw std::invalid_argument(
        fmt::format("[{}] pad should be at most half of effective kernel size, but got pad={} and "
                    "kernel_size={}",
                    info.name, axis.padding, axis.kernel));
  }
  const std::int64_t room = axis.in + 2 * axis.padding - axis.dilation * (axis.kernel - 1) - 1;
  if (room < 0) {
    throw std::invalid_argument(
        fmt::format("[{}] a window of {} does not fit into {} padded elements: the output would be "
                    "too small",
                    info.name, axis.dilation * (axis.kernel - 1) + 1, axis.in + 2 * axis.padding));
  }
  axis.out = (room + (ceil_mode ? axis.stride - 1 : 0)) / axis.stride + 1;
  // No window may begin in the padding behind the image.
  if (ceil_mode && (axis.out - 1) * axis.stride >= axis.in + axis.padding) --axis.out;
}

struct WindowSizes {
  const Shape& kernel;
  const std::optional<Shape>& stride;
  const Shape& padding;
  const Shape& dilation;
  bool ceil_mode;
};

Plan plan_for(const OpInfo& info, const Tensor& input, const WindowSizes& sizes) {
  require_image(info, input);
  const Shape& stride = sizes.stride && !sizes.stride->empty() ? *sizes.stride : sizes.kernel;
  require_pair(info, sizes.kernel, 1, "kernel_size");
  require_pair(info, stride, 1, "stride");
  require_pair(info, sizes.padding, 0, "padding");
  require_pair(info, sizes.dilation, 1, "dilation");
  Plan plan = plan_for_image(input.shape());
  int position = 0;
  for (Axis* axis : {&plan.rows, &plan.columns}) {
    axis->kernel = size_at(sizes.kernel, position);
    axis->stride = size_at(stride, position);
    axis->padding = size_at(sizes.padding, position);
    axis->dilation = size_at(sizes.dilation, position);
    set_output(info, *axis, sizes.ceil_mode);
    ++position;
  }
  return plan;
}

Shape pooled_shape(const Shape& shape, const Plan& plan) {
  Shape pooled = shape;
  pooled[shape.dims() - 2] = plan.rows.out;
  pooled[shape.dims() - 1] = plan.columns.out;
  return pooled;
}

// ---- maximum ------------------------------------------------------------------------------------

template <class T>
struct Largest {
  ComputeType<T> value = -std::numeric_limits<ComputeType<T>>::infinity();
  std::int64_t position = 0;  ///< within the plane
};

// The first largest element of one window. A dilated window may touch nothing but padding.
template <class T>
Largest<T> largest_in_window(const Plan& plan, const T* plane, std::int64_t row,
                             std::int64_t column) {
  const Axis& rows = plan.rows;
  const Axis& columns = plan.columns;
  const std::int64_t top = row * rows.stride - rows.padding;
  const std::int64_t left = column * columns.stride - columns.padding;
  Largest<T> largest;
  bool is_first = true;
  for (std::int64_t y = top; y < top + rows.kernel * rows.dilation; y += rows.dilation) {
    if (y < 0 || y >= rows.in) continue;
    for (std::int64_t x = left; x < left + columns.kernel * columns.dilation;
         x += columns.dilation) {
      if (x < 0 || x >= columns.in) continue;
      const auto value = convert_element<ComputeType<T>>(plane[y * columns.in + x]);
      const bool wins = is_first || value > largest.value || std::isnan(value);
      if (wins) largest = {value, y * columns.in + x};
      is_first = false;
    }
  }
  return largest;
}

void compute_max_pool(const Plan& plan, const Tensor& given, const Tensor& out,
                      const Tensor& indices) {
  const Tensor input = row_major(given);
  if (!out.has_values()) return;
  visit_floating(input.dtype(), [&]<class T>(TypeTag<T>) {
    const T* plane = input.data<const T>();
    T* result = out.data<T>();
    auto* index = indices.data<std::int64_t>();
    for (std::int64_t i = 0; i < plan.planes; ++i, plane += plan.in_pixels()) {
      for (std::int64_t row = 0; row < plan.rows.out; ++row) {
        for (std::int64_t column = 0; column < plan.columns.out; ++column) {
          const Largest<T> largest = largest_in_window(plan, plane, row, column);
          *result++ = convert_element<T>(largest.value);
          *index++ = largest.position;
        }
      }
    }
  });
}

// Adds up in the compute type, one plane at a time: windows overlap.
template <class F>
void fill_planes(const Plan& plan, const Tensor& out, F&& add_plane) {
  if (!out.has_values()) return;
  visit_floating(out.dtype(), [&]<class T>(TypeTag<T>) {
    std::vector<ComputeType<T>> sums(static_cast<std::size_t>(plan.in_pixels()));
    T* target = out.data<T>();
    for (std::int64_t plane = 0; plane < plan.planes; ++plane) {
      std::fill(sums.begin(), sums.end(), ComputeType<T>(0));
      add_plane(TypeTag<T>{}, plane, sums.data());
      for (const auto sum : sums) *target++ = convert_element<T>(sum);
    }
  });
}

Tensor max_pool_gradient(const Plan& plan, const Tensor& given, const Shape& shape,
                         const Tensor& indices) {
  Tensor out = zeros(shape, options_of(given));
  const Tensor grad = row_major(given);
  fill_planes(plan, out, [&]<class T>(TypeTag<T>, std::int64_t plane, ComputeType<T>* sums) {
    const std::int64_t first = plane * plan.out_pixels();
    for (std::int64_t i = first; i < first + plan.out_pixels(); ++i) {
      sums[indices.data<const std::int64_t>()[i]] +=
          convert_element<ComputeType<T>>(grad.data<const T>()[i]);
    }
  });
  return out;
}

// ---- averages -----------------------------------------------------------------------------------

// What one output element averages over: [first, last) of the image, and how many elements count.
struct Span {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t padded = 0;  ///< elements with the padding
};

enum class Windows : std::uint8_t { sliding, adaptive };

struct AveragePlan {
  Plan plan;
  Windows windows = Windows::sliding;
  bool count_include_pad = true;
  std::optional<std::int64_t> divisor;
};

Span span_of(const Axis& axis, Windows windows, std::int64_t position) {
  if (windows == Windows::adaptive) {
    const std::int64_t first = position * axis.in / axis.out;
    const std::int64_t last = ((position + 1) * axis.in + axis.out - 1) / axis.out;
    return {first, last, last - first};
  }
  const std::int64_t first = position * axis.stride - axis.padding;
  const std::int64_t last = std::min(first + axis.kernel, axis.in + axis.padding);
  return {std::max<std::int64_t>(first, 0), std::min(last, axis.in), last - first};
}

// Calls visit(output pixel, rows, columns, divisor) for each output pixel of a plane.
template <class F>
void for_each_window(const AveragePlan& average, F&& visit) {
  const Plan& plan = average.plan;
  std::int64_t pixel = 0;
  for (std::int64_t row = 0; row < plan.rows.out; ++row) {
    const Span y = span_of(plan.rows, average.windows, row);
    for (std::int64_t column = 0; column < plan.columns.out; ++column) {
      const Span x = span_of(plan.columns, average.windows, column);
      const std::int64_t counted =
          average.count_include_pad ? y.padded * x.padded : (y.last - y.first) * (x.last - x.first);
      visit(pixel++, y, x, average.divisor.value_or(counted));
    }
  }
}

// What cuDNN can be asked for: sliding windows that end inside the padded image.
std::optional<CardAverage> average_for_card(const AveragePlan& average) {
  const Plan& plan = average.plan;
  const auto ends_inside = [](const Axis& axis) {
    return (axis.out - 1) * axis.stride + axis.kernel <= axis.in + 2 * axis.padding;
  };
  const bool fits = average.windows == Windows::sliding && !average.divisor &&
                    ends_inside(plan.rows) && ends_inside(plan.columns);
  if (!fits) return std::nullopt;
  const auto windows = [](const Axis& axis) {
    return CardWindows{axis.kernel, axis.padding, axis.stride};
  };
  return CardAverage{plan.planes, windows(plan.rows), windows(plan.columns),
                     average.count_include_pad};
}

void compute_average(const AveragePlan& average, const Tensor& input, const Tensor& out) {
  if (!out.has_values()) return;
  const std::optional<CardAverage> on_card = average_for_card(average);
  if (on_card && average_on_card(*on_card, input, out) == OnCard::done) return;
  const Plan& plan = average.plan;
  visit_floating(input.dtype(), [&]<class T>(TypeTag<T>) {
    using Compute = ComputeType<T>;
    const T* plane = input.data<const T>();
    T* result = out.data<T>();
    for (std::int64_t i = 0; i < plan.planes; ++i) {
      for_each_window(average, [&](std::int64_t pixel, const Span& rows, const Span& columns,
                                   std::int64_t divisor) {
        Compute sum = 0;
        for (std::int64_t y = rows.first; y < rows.last; ++y) {
          for (std::int64_t x = columns.first; x < columns.last; ++x) {
            sum += convert_element<Compute>(plane[y * plan.columns.in + x]);
          }
        }
        result[pixel] = convert_element<T>(sum / static_cast<Compute>(divisor));
      });
      plane += plan.in_pixels();
      result += plan.out_pixels();
    }
  });
}

Tensor average_gradient(const AveragePlan& average, const Tensor& given, const Shape& shape) {
  Tensor out = empty(shape, options_of(given));
  const Tensor grad = row_major(given);
  const std::optional<CardAverage> on_card = average_for_card(average);
  if (on_card && average_gradient_on_card(*on_card, grad, out) == OnCard::done) return out;
  const Plan& plan = average.plan;
  fill_planes(plan, out, [&]<class T>(TypeTag<T>, std::int64_t plane, ComputeType<T>* sums) {
    using Compute = ComputeType<T>;
    const T* incoming = grad.data<const T>() + plane * plan.out_pixels();
    for_each_window(average, [&](std::int64_t pixel, const Span& rows, const Span& columns,
                                 std::int64_t divisor) {
      const Compute share =
          convert_element<Compute>(incoming[pixel]) / static_cast<Compute>(divisor);
      for (std::int64_t y = rows.first; y < rows.last; ++y) {
        for (std::int64_t x = columns.first; x < columns.last; ++x) {
          sums[y * plan.columns.in + x] += share;
        }
      }
    });
  });
  return out;
}

Tensor average_pool(const AveragePlan& average, std::string_view node, const Tensor& input) {
  Recorder record(node, {&input});
  record.save(input);
  Tensor out = empty(pooled_shape(input.shape(), average.plan), options_of(input));
  compute_average(average, row_major(input), out);
  record.attach(out, [average](BackwardCall& call) {
    return TensorList{average_gradient(average, call.grad(), call.saved(0).shape())};
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

}  // namespace

Tensor max_pool2d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, const Shape& dilation, bool ceil_mode) {
  const OpFront front(kMaxPool);
  const Plan plan = plan_for(kMaxPool, input, {kernel_size, stride, padding, dilation, ceil_mode});
  const Shape shape = pooled_shape(input.shape(), plan);
  Tensor out = empty(shape, options_of(input));
  const Tensor indices = empty(shape, {DType::int64, input.device()});
  compute_max_pool(plan, input, out, indices);
  if (Recorder record("MaxPool2DBackward", {&input}); record.is_needed()) {
    record.save(input);
    record.save(indices);
    record.attach(out, [plan](BackwardCall& call) {
      return TensorList{max_pool_gradient(plan, call.grad(), call.saved(0).shape(), call.saved(1))};
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
  const Plan plan = plan_for(kAvgPool, input, {kernel_size, stride, padding, Shape{1}, ceil_mode});
  const AveragePlan average{plan, Windows::sliding, count_include_pad, divisor_override};
  return average_pool(average, "AvgPool2DBackward", input);
}

Tensor adaptive_avg_pool2d(const Tensor& input, const Shape& output_size) {
  const OpFront front(kAdaptiveAvgPool);
  require_image(kAdaptiveAvgPool, input);
  require_pair(kAdaptiveAvgPool, output_size, 1, "output_size");
  if (size_at(output_size, 0) == 1 && size_at(output_size, 1) == 1)
    return mean(input, Shape{-1, -2}, true);
  Plan plan = plan_for_image(input.shape());
  plan.rows.out = size_at(output_size, 0);
  plan.columns.out = size_at(output_size, 1);
  return average_pool({plan, Windows::adaptive, true, std::nullopt}, "AdaptiveAvgPool2DBackward",
                      input);
}

std::vector<OpDef> pooling_ops() {
  const ParamName padding{"padding", Shape{0}};
  const ParamName ceil_mode{"ceil_mode", false};
  return {
      define(kMaxPool, kFunctional, &max_pool2d,
             {"input", "kernel_size", "stride", padding, {"dilation", Shape{1}}, ceil_mode},
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
