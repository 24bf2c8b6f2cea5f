#include "runtime/ops/pooling/average_pool_volumes.h"

#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/convolution/conv_sizes.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/pooling/average_pool.h"
#include "runtime/ops/pooling/pooled_volumes.h"
#include "runtime/ops/pooling/pooling_gradients.h"
#include "runtime/ops/pooling/pooling_sizes.h"
#include "runtime/ops/reduction/reduction.h"

namespace ohm::ops {
namespace {

using functors::PoolSpan;
using functors::PoolWindows;

constexpr OpInfo kAvgPool3d{"avg_pool3d"};
constexpr OpInfo kAdaptiveAvgPool3d{"adaptive_avg_pool3d"};

struct VolumeAverage {
  VolumeAxes axes;
  PoolWindows windows = PoolWindows::sliding;
  bool counts_padding = true;
  std::int64_t divisor = 0;  ///< 0: the number of elements
};

/// What a window has of the volume, and what its sum is divided by.
struct AveragedWindow {
  Place first = {};
  Place sizes = {};
  std::int64_t divisor = 1;
};

AveragedWindow averaged_window_at(const VolumeAverage& average, const Place& position) {
  AveragedWindow window;
  for (std::size_t i = 0; i < position.size(); ++i) {
    const PoolSpan span =
        functors::span_of_window(average.windows, average.axes.at(i), position.at(i));
    window.first.at(i) = span.first;
    window.sizes.at(i) = span.size();
    window.divisor *= average.counts_padding ? span.padded : span.size();
  }
  if (average.divisor != 0) window.divisor = average.divisor;
  return window;
}

Place place_in(const AveragedWindow& window, const Place& step) {
  return {window.first[0] + step[0], window.first[1] + step[1], window.first[2] + step[2]};
}

void compute_averages(const VolumeAverage& average, const Tensor& input, const Tensor& out) {
  if (!out.has_values()) return;
  const VolumeLayout from(input);
  const VolumeLayout to(out);
  visit_floating(input.dtype(), [&]<class T>(TypeTag<T>) {
    using Compute = ComputeType<T>;
    const T* const elements = input.data<const T>();
    for (std::int64_t volume = 0; volume < from.volumes(); ++volume) {
      for_each_place(out_sizes(average.axes), [&](const Place& position) {
        const AveragedWindow window = averaged_window_at(average, position);
        Compute sum = 0;
        for_each_place(window.sizes, [&](const Place& step) {
          sum += convert_element<Compute>(elements[from.at(volume, place_in(window, step))]);
        });
        out.data<T>()[to.at(volume, position)] =
            convert_element<T>(sum / static_cast<Compute>(window.divisor));
      });
    }
  });
}

void compute_gradient_of_averages(const VolumeAverage& average, const Tensor& grad,
                                  const Tensor& out) {
  if (!out.has_values()) return;
  const VolumeLayout averages(grad);
  visit_floating(out.dtype(), [&]<class T>(TypeTag<T>) {
    using Compute = ComputeType<T>;
    fill_with_sums<T>(average.axes, out, [&](std::int64_t volume, std::vector<Compute>& sums) {
      for_each_place(out_sizes(average.axes), [&](const Place& position) {
        const AveragedWindow window = averaged_window_at(average, position);
        const Compute part =
            convert_element<Compute>(grad.data<const T>()[averages.at(volume, position)]) /
            static_cast<Compute>(window.divisor);
        for_each_place(window.sizes, [&](const Place& step) {
          sums[static_cast<std::size_t>(pixel_number(average.axes, place_in(window, step)))] +=
              part;
        });
      });
    });
  });
}

constexpr AverageNodes kSlidingVolumes{"AvgPool3DBackward", "AvgPool3DBackwardBackward"};
constexpr AverageNodes kAdaptiveVolumes{"AdaptiveAvgPool3DBackward",
                                        "AdaptiveAvgPool3DBackwardBackward"};

Tensor average_volumes(const VolumeAverage& average, const AverageNodes& nodes,
                       const Tensor& input);

Tensor gradient_of_averages(const VolumeAverage& average, const AverageNodes& nodes,
                            const Tensor& grad, const Tensor& input) {
  Tensor out = empty(input.shape(), options_of(grad));
  compute_gradient_of_averages(average, row_major(grad), out);
  record_average_gradient(
      nodes.backward_twice, out, grad, input,
      [average, nodes](const Tensor& again) { return average_volumes(average, nodes, again); });
  return out;
}

// The adaptive kernel has its copy made before the result, and reads any strides of one image.
Tensor averages_of_volumes(const VolumeAverage& average, const Tensor& input) {
  const Shape shape = shape_of_pooled_volumes(input.shape(), average.axes);
  if (average.windows == PoolWindows::sliding) {
    Tensor out = empty(shape, options_of(input));
    compute_averages(average, row_major(input), out);
    return out;
  }
  const Tensor volumes = input.dims() == 4 ? input : row_major(input);
  Tensor out = empty(shape, options_of(input));
  compute_averages(average, volumes, out);
  return out;
}

Tensor average_volumes(const VolumeAverage& average, const AverageNodes& nodes,
                       const Tensor& input) {
  Recorder record(nodes.backward, {&input});
  record.save(input);
  Tensor out = averages_of_volumes(average, input);
  record.attach_differentiable(out, [average, nodes](BackwardCall& call) {
    return TensorList{gradient_of_averages(average, nodes, call.grad(), call.saved(0))};
  });
  return out;
}

}  // namespace

Tensor avg_pool3d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, bool ceil_mode, bool count_include_pad,
                  std::optional<std::int64_t> divisor_override) {
  const OpFront front(kAvgPool3d);
  if (divisor_override == 0) {
    throw std::invalid_argument("[avg_pool3d] divisor must be not zero");
  }
  const VolumeAxes axes =
      volume_axes(kAvgPool3d, input, {kernel_size, stride, padding, Shape{1}, ceil_mode});
  return average_volumes(
      {axes, PoolWindows::sliding, count_include_pad, divisor_override.value_or(0)},
      kSlidingVolumes, input);
}

Tensor adaptive_avg_pool3d(const Tensor& input, const Shape& output_size) {
  const OpFront front(kAdaptiveAvgPool3d);
  VolumeAxes axes = volume_axes(kAdaptiveAvgPool3d, input);
  require_sizes(kAdaptiveAvgPool3d, 3, output_size, 1, "output_size");
  for (int i = 0; i < 3; ++i) axes.at(static_cast<std::size_t>(i)).out = size_at(output_size, i);
  if (axes[0].out == 1 && axes[1].out == 1 && axes[2].out == 1) {
    const Tensor means = mean(input, Shape{-1, -2, -3}, true);
    const bool are_last = memory_format_of(input) == MemoryFormat::channels_last_3d;
    return input.dims() == 5 && are_last ? with_channels_last(means) : means;
  }
  return average_volumes({axes, PoolWindows::adaptive, true, 0}, kAdaptiveVolumes, input);
}

std::vector<OpDef> average_pool_volume_ops() {
  return {
      define(kAvgPool3d, kCppFunctional, &avg_pool3d,
             {"input",
              "kernel_size",
              "stride",
              {"padding", Shape{0}},
              {"ceil_mode", false},
              {"count_include_pad", true},
              "divisor_override"}),
      define(kAdaptiveAvgPool3d, kFunctional, &adaptive_avg_pool3d, {"input", "output_size"}),
  };
}

}  // namespace ohm::ops
