#include "runtime/ops/pooling/adaptive_max_pool.h"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/convolution/conv_sizes.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/pooling/pooling_gradients.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kAdaptiveMaxPool{"adaptive_max_pool2d"};
constexpr OpInfo kAdaptiveMaxPool1d{"adaptive_max_pool1d"};

struct SplitAxis {
  std::int64_t in = 0;
  std::int64_t out = 0;

  std::int64_t first(std::int64_t window) const { return window * in / out; }
  std::int64_t last(std::int64_t window) const { return ((window + 1) * in + out - 1) / out; }
};

struct SplitPlan {
  SplitAxis rows;
  SplitAxis columns;
  Shape output;

  std::int64_t windows() const { return rows.out * columns.out; }
  std::int64_t pixels() const { return rows.in * columns.in; }
};

SplitPlan split_plan(const Tensor& input, const Shape& output_size) {
  require_floating(input, kAdaptiveMaxPool);
  require_pair(kAdaptiveMaxPool, output_size, 1, "output_size");
  const int dims = input.dims();
  if ((dims != 3 && dims != 4) || input.numel() == 0) {
    throw std::invalid_argument(fmt::format(
        "[adaptive_max_pool2d] expected [N, C, H, W] or [C, H, W] with pixels, but got {}",
        input.shape().str()));
  }
  SplitPlan plan{{input.shape()[dims - 2], size_at(output_size, 0)},
                 {input.shape()[dims - 1], size_at(output_size, 1)},
                 input.shape()};
  std::int64_t product = 0;
  const bool is_too_large = __builtin_mul_overflow(plan.rows.in, plan.rows.out + 1, &product) ||
                            __builtin_mul_overflow(plan.columns.in, plan.columns.out + 1, &product);
  if (is_too_large) throw std::invalid_argument("[adaptive_max_pool2d] output_size is too large");
  plan.output[dims - 2] = plan.rows.out;
  plan.output[dims - 1] = plan.columns.out;
  return plan;
}

// The first largest pixel of a window of one plane, or its last NaN.
template <class T>
std::int64_t largest_pixel(const SplitPlan& plan, const T* plane, std::int64_t window) {
  const std::int64_t row = window / plan.columns.out;
  const std::int64_t column = window % plan.columns.out;
  std::int64_t largest = -1;
  for (std::int64_t y = plan.rows.first(row); y < plan.rows.last(row); ++y) {
    for (std::int64_t x = plan.columns.first(column); x < plan.columns.last(column); ++x) {
      const std::int64_t pixel = y * plan.columns.in + x;
      const T value = plane[pixel];
      if (largest < 0 || value > plane[largest] || std::isnan(value)) largest = pixel;
    }
  }
  return largest;
}

void find_maxima(const SplitPlan& plan, const Tensor& input, const Tensor& maxima,
                 const Tensor& indices) {
  if (!maxima.has_values()) return;
  visit_computed(input.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> images(input);
    HostOutput<T> out(maxima);
    auto* const pixels = indices.data<std::int64_t>();
    for (std::int64_t i = 0; i < maxima.numel(); ++i) {
      const T* const plane = images.data() + i / plan.windows() * plan.pixels();
      pixels[i] = largest_pixel(plan, plane, i % plan.windows());
      out.data()[i] = plane[pixels[i]];
    }
    out.commit();
  });
}

// What the kernel writes for a result that is not row-major, and is copied from there.
Tensor written_for(const Tensor& result) {
  return result.is_contiguous() ? result : empty(result.shape(), options_of(result));
}

void deliver(const Tensor& result, const Tensor& written) {
  if (!written.is_same(result)) copy_into(result, written);
}

Tensor maxima_gradient(const SplitPlan& plan, const Tensor& given, const Tensor& input,
                       const Tensor& given_indices) {
  Tensor out = empty(input.shape(), options_of(given), memory_format_of(input));
  const Tensor grad = row_major(given);
  const Tensor indices = row_major(given_indices);
  const Tensor written = written_for(out);
  if (out.has_values()) {
    visit_computed(out.dtype(), [&]<class T>(TypeTag<T>) {
      const HostInput<T> of_maxima(grad);
      const HostInput<std::int64_t> pixels(indices);
      HostOutput<T> target(written);
      target.fill_zero();
      for (std::int64_t i = 0; i < grad.numel(); ++i) {
        target.data()[i / plan.windows() * plan.pixels() + pixels.data()[i]] += of_maxima.data()[i];
      }
      target.commit();
    });
  }
  deliver(out, written);
  return out;
}

Tensor recorded_maxima_gradient(const SplitPlan& plan, const Tensor& grad, const Tensor& input,
                                const Tensor& indices) {
  Tensor out = maxima_gradient(plan, grad, input, indices);
  record_maxima_gradient("AdaptiveMaxPool2DBackwardBackward", out, grad, input, indices, 2);
  return out;
}

}  // namespace

Tensor adaptive_max_pool2d(const Tensor& input, const Shape& output_size) {
  const OpFront front(kAdaptiveMaxPool);
  const SplitPlan plan = split_plan(input, output_size);
  Recorder record("AdaptiveMaxPool2DBackward", {&input});
  record.save(input);
  const MemoryFormat format = memory_format_of(input);
  Tensor out = empty(plan.output, options_of(input), format);
  Tensor indices = empty(plan.output, {DType::int64, input.device()}, format);
  {
    const Tensor maxima = written_for(out);
    const Tensor pixels = written_for(indices);
    const Tensor images = input.dims() == 3 ? input : row_major(input);
    find_maxima(plan, images, maxima, pixels);
    deliver(out, maxima);
    deliver(indices, pixels);
  }
  record.save(indices);
  record.attach_differentiable(out, [plan](BackwardCall& call) {
    return TensorList{recorded_maxima_gradient(plan, call.grad(), call.saved(0), call.saved(1))};
  });
  return out;
}

Tensor adaptive_max_pool1d(const Tensor& input, const Shape& output_size) {
  const OpFront front(kAdaptiveMaxPool1d);
  if ((input.dims() != 2 && input.dims() != 3) || output_size.dims() != 1) {
    throw std::invalid_argument(
        fmt::format("[adaptive_max_pool1d] expected [N, C, L] or [C, L] and one size, but got {} "
                    "and {}",
                    input.shape().str(), output_size.str()));
  }
  const Tensor rows = adaptive_max_pool2d(unsqueeze(input, -2), {1, output_size[0]});
  return squeeze(rows, -2);
}

std::vector<OpDef> adaptive_max_ops() {
  return {
      define(kAdaptiveMaxPool, kFunctional, &adaptive_max_pool2d, {"input", "output_size"}),
      define(kAdaptiveMaxPool1d, kFunction | kFunctional, &adaptive_max_pool1d,
             {"input", "output_size"}),
  };
}

}  // namespace ohm::ops
