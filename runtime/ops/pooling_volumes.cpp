#include "runtime/ops/pooling_volumes.h"

#include <fmt/core.h>

#include <array>
#include <limits>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/conv_sizes.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise_kernel.h"
#include "runtime/ops/pooling.h"
#include "runtime/ops/pooling_sizes.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

using functors::PoolAxis;
using functors::PoolSpan;
using functors::PoolWindows;

constexpr OpInfo kMaxPool3d{"max_pool3d"};
constexpr OpInfo kAvgPool3d{"avg_pool3d"};
constexpr OpInfo kAdaptiveAvgPool3d{"adaptive_avg_pool3d"};

/// One for the depth, the height and the width.
using VolumeAxes = std::array<PoolAxis, 3>;

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

Place in_sizes(const VolumeAxes& axes) { return {axes[0].in, axes[1].in, axes[2].in}; }
Place out_sizes(const VolumeAxes& axes) { return {axes[0].out, axes[1].out, axes[2].out}; }

std::int64_t pixel_number(const VolumeAxes& axes, const Place& place) {
  return (place[0] * axes[1].in + place[1]) * axes[2].in + place[2];
}

// ---- maximum ------------------------------------------------------------------------------------

/// Calls visit(place) for each place in the volume that the window touches, padding left out.
template <class Visit>
void for_each_in_window(const VolumeAxes& axes, const Place& window, const Visit& visit) {
  for_each_place({axes[0].kernel, axes[1].kernel, axes[2].kernel}, [&](const Place& step) {
    Place place = {};
    bool is_inside = true;
    for (std::size_t i = 0; i < place.size(); ++i) {
      const PoolAxis& axis = axes.at(i);
      place.at(i) = window.at(i) * axis.stride - axis.padding + step.at(i) * axis.dilation;
      is_inside = is_inside && place.at(i) >= 0 && place.at(i) < axis.in;
    }
    if (is_inside) visit(place);
  });
}

void compute_maxima(const VolumeAxes& axes, const Tensor& input, const Tensor& out,
                    const Tensor& indices) {
  if (!out.has_values()) return;
  const VolumeLayout from(input);
  const VolumeLayout to(out);
  visit_floating(input.dtype(), [&]<class T>(TypeTag<T>) {
    using Compute = ComputeType<T>;
    const T* const elements = input.data<const T>();
    T* const maxima = out.data<T>();
    auto* const pixels = indices.data<std::int64_t>();
    for (std::int64_t volume = 0; volume < from.volumes(); ++volume) {
      for_each_place(out_sizes(axes), [&](const Place& window) {
        functors::LargestPixel<Compute> largest;
        for_each_in_window(axes, window, [&](const Place& place) {
          const auto value = convert_element<Compute>(elements[from.at(volume, place)]);
          if (largest.pixel < 0 || value > largest.value || value != value) {
            largest = {value, pixel_number(axes, place)};
          }
        });
        maxima[to.at(volume, window)] = convert_element<T>(largest.value);
        pixels[to.at(volume, window)] = largest.pixel;
      });
    }
  });
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

void compute_gradient_of_maxima(const VolumeAxes& axes, const Tensor& grad, const Tensor& indices,
                                const Tensor& out) {
  if (!out.has_values()) return;
  const VolumeLayout maxima(grad);
  const VolumeLayout places(indices);
  visit_floating(out.dtype(), [&]<class T>(TypeTag<T>) {
    using Compute = ComputeType<T>;
    fill_with_sums<T>(axes, out, [&](std::int64_t volume, std::vector<Compute>& sums) {
      for_each_place(out_sizes(axes), [&](const Place& window) {
        const std::int64_t pixel = indices.data<const std::int64_t>()[places.at(volume, window)];
        if (pixel < 0) return;
        sums[static_cast<std::size_t>(pixel)] +=
            convert_element<Compute>(grad.data<const T>()[maxima.at(volume, window)]);
      });
    });
  });
}

// One volume as a batch of one.
Tensor as_batch(const Tensor& volume) {
  if (volume.dims() == 5) return volume;
  Shape sizes = volume.shape();
  Shape strides = volume.strides();
  strides.insert(0, sizes[0] * strides[0]);
  sizes.insert(0, 1);
  return make_view(volume, sizes, strides, volume.impl()->offset);
}

// Back from there: of a result that nothing else looks at.
Tensor without_batch(const Tensor& batch, const Tensor& like) {
  if (like.dims() == 5) return batch;
  Shape sizes = batch.shape();
  Shape strides = batch.strides();
  sizes.erase(0);
  strides.erase(0);
  Tensor out = make_view(batch, sizes, strides, batch.impl()->offset);
  out.impl()->is_view = false;
  return out;
}

// The maxima of one volume lie as it does where its channels are last without gaps.
MemoryFormat format_of_maxima(const Tensor& input) {
  if (input.dims() == 5) return memory_format_of(input);
  const bool are_last =
      !input.is_contiguous() && lies_in(as_batch(input), MemoryFormat::channels_last_3d);
  return are_last ? MemoryFormat::channels_last_3d : MemoryFormat::row_major;
}

Tensor gradient_of_maxima(const VolumeAxes& axes, const Tensor& given, const Tensor& input,
                          const Tensor& indices) {
  const MemoryFormat format = format_of_maxima(input);
  const Tensor batch = empty(as_batch(input).shape(), options_of(given), format);
  compute_gradient_of_maxima(axes, laid_out(as_batch(given), format),
                             laid_out(as_batch(indices), format), batch);
  // There it is a batch of one, whose sum autograd takes for the gradient of one volume.
  const bool is_summed = input.dims() == 4 && format == MemoryFormat::channels_last_3d;
  return is_summed ? reduce_sum(batch, with(0, 0), false, batch.dtype())
                   : without_batch(batch, input);
}

// Its gradient is what stands where the maxima were.
Tensor recorded_gradient_of_maxima(const VolumeAxes& axes, const Tensor& given, const Tensor& input,
                                   const Tensor& indices) {
  Tensor out = gradient_of_maxima(axes, given, input, indices);
  if (Recorder record("MaxPool3DWithIndicesBackwardBackward", {&given, &input});
      record.is_needed()) {
    record.save(indices);
    record.attach_differentiable(
        out, [shape = input.shape(), options = options_of(input)](BackwardCall& call) {
          TensorList grads(2);
          const Tensor places = call.saved(0);
          if (call.needs(0)) grads[0] = found_at_maxima(call.grad(), places, 3);
          if (call.needs(1)) grads[1] = zeros(shape, options);
          return grads;
        });
  }
  return out;
}

// ---- averages -----------------------------------------------------------------------------------

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

struct VolumeNodes {
  std::string_view backward;
  std::string_view backward_twice;
};
constexpr VolumeNodes kSlidingVolumes{"AvgPool3DBackward", "AvgPool3DBackwardBackward"};
constexpr VolumeNodes kAdaptiveVolumes{"AdaptiveAvgPool3DBackward",
                                       "AdaptiveAvgPool3DBackwardBackward"};

Tensor average_volumes(const VolumeAverage& average, const VolumeNodes& nodes, const Tensor& input);

// Of what is linear: its gradient pools again, and does not depend on the volumes.
Tensor gradient_of_averages(const VolumeAverage& average, const VolumeNodes& nodes,
                            const Tensor& grad, const Tensor& input) {
  Tensor out = empty(input.shape(), options_of(grad));
  compute_gradient_of_averages(average, row_major(grad), out);
  if (Recorder record(nodes.backward_twice, {&grad, &input}); record.is_needed()) {
    record.attach_differentiable(out, [average, nodes, shape = input.shape(),
                                       options = options_of(input)](BackwardCall& call) {
      TensorList grads(2);
      if (call.needs(0)) grads[0] = average_volumes(average, nodes, call.grad());
      if (call.needs(1)) grads[1] = zeros(shape, options);
      return grads;
    });
  }
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

Tensor average_volumes(const VolumeAverage& average, const VolumeNodes& nodes,
                       const Tensor& input) {
  Recorder record(nodes.backward, {&input});
  record.save(input);
  Tensor out = averages_of_volumes(average, input);
  record.attach_differentiable(out, [average, nodes](BackwardCall& call) {
    return TensorList{gradient_of_averages(average, nodes, call.grad(), call.saved(0))};
  });
  return out;
}

Tensor random_volumes(const Shape& shape) { return randn(shape, {DType::float64, Device::cpu()}); }

std::vector<Sample> volumes_to_maximise() {
  const Value missing;
  return {
      {random_volumes({2, 2, 4, 3, 5}), Shape{2}},
      {random_volumes({1, 2, 5, 4, 6}), Shape{3, 2, 1}, Shape{2}, Shape{1, 0, 0}, Shape{1, 2, 1},
       true},
      {random_volumes({2, 3, 3, 3}), Shape{3}, missing, Shape{1}},
  };
}

std::vector<Sample> volumes_to_average() {
  const Value missing;
  return {
      {random_volumes({2, 2, 4, 3, 5}), Shape{2}},
      {random_volumes({1, 2, 5, 4, 4}), Shape{3, 2, 2}, Shape{2}, Shape{1}, true, false},
      {random_volumes({2, 3, 3, 3}), Shape{2}, missing, Shape{1}, false, true, std::int64_t{4}},
  };
}

std::vector<Sample> volumes_to_split() {
  return {
      {random_volumes({2, 2, 3, 4, 2}), Shape{1}},
      {random_volumes({2, 1, 3, 5, 4}), Shape{2, 3, 2}},
      {random_volumes({2, 2, 3, 2}), Shape{4}},
  };
}

Value max_pool3d_row(const Tensor& input, const Shape& kernel_size,
                     const std::optional<Shape>& stride, const Shape& padding,
                     const Shape& dilation, bool ceil_mode, bool return_indices) {
  return maxima_as_asked(
      max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode),
      return_indices);
}

}  // namespace

PooledMaxima max_pool3d_with_indices(const Tensor& input, const Shape& kernel_size,
                                     const std::optional<Shape>& stride, const Shape& padding,
                                     const Shape& dilation, bool ceil_mode) {
  const OpFront front(kMaxPool3d);
  const VolumeAxes axes =
      volume_axes(kMaxPool3d, input, {kernel_size, stride, padding, dilation, ceil_mode});
  const MemoryFormat format = format_of_maxima(input);
  Recorder record("MaxPool3DWithIndicesBackward", {&input});
  record.save(input);
  const Tensor volumes = as_batch(input);
  const Shape shape = shape_of_pooled_volumes(volumes.shape(), axes);
  const Tensor maxima = empty(shape, options_of(input), format);
  const Tensor pixels = empty(shape, {DType::int64, input.device()}, format);
  compute_maxima(axes, laid_out(volumes, format), maxima, pixels);
  Tensor out = without_batch(maxima, input);
  const Tensor indices = without_batch(pixels, input);
  record.save(indices);
  record.attach_differentiable(out, [axes](BackwardCall& call) {
    return TensorList{recorded_gradient_of_maxima(axes, call.grad(), call.saved(0), call.saved(1))};
  });
  return {out, indices};
}

Tensor max_pool3d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, const Shape& dilation, bool ceil_mode) {
  return max_pool3d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode).first;
}

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

std::vector<OpDef> volume_pooling_ops() {
  const ParamName padding{"padding", Shape{0}};
  const ParamName ceil_mode{"ceil_mode", false};
  return {
      define(kMaxPool3d, kFunction | kFunctional, &max_pool3d_row,
             {"input",
              "kernel_size",
              "stride",
              padding,
              {"dilation", Shape{1}},
              ceil_mode,
              {"return_indices", false}},
             volumes_to_maximise),
      define(kAvgPool3d, kFunctional, &avg_pool3d,
             {"input",
              "kernel_size",
              "stride",
              padding,
              ceil_mode,
              {"count_include_pad", true},
              "divisor_override"},
             volumes_to_average),
      define(kAdaptiveAvgPool3d, kFunctional, &adaptive_avg_pool3d, {"input", "output_size"},
             volumes_to_split),
  };
}

}  // namespace ohm::ops
