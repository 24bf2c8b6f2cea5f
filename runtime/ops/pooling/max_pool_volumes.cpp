#include "runtime/ops/pooling/max_pool_volumes.h"

#include "runtime/arithmetic/laid_out.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/arithmetic/sum.h"
#include "runtime/autograd/recorder.h"
#include "runtime/base/dim_mask.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/pooling/pooled_volumes.h"
#include "runtime/ops/pooling/pooling_gradients.h"
#include "runtime/ops/pooling/pooling_sizes.h"

namespace ohm::ops {
namespace {

using functors::PoolAxis;

constexpr OpInfo kMaxPool3d{"max_pool3d"};

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

Tensor recorded_gradient_of_maxima(const VolumeAxes& axes, const Tensor& given, const Tensor& input,
                                   const Tensor& indices) {
  Tensor out = gradient_of_maxima(axes, given, input, indices);
  record_maxima_gradient("MaxPool3DWithIndicesBackwardBackward", out, given, input, indices, 3);
  return out;
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

std::vector<OpDef> max_pool_volume_ops() {
  return {
      define(kMaxPool3d, kFunction | kFunctional, &max_pool_row<&max_pool3d_with_indices>,
             max_pool_parameters()),
  };
}

}  // namespace ohm::ops
