#include "runtime/ops/normalization/rms_norm.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/host/layer_gradients.h"
#include "runtime/ops/normalization/cuda/layer_norm.h"
#include "runtime/ops/normalization/normalized_rows.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/pointwise_math.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kRmsNorm{"rms_norm"};
constexpr OpInfo kCastRmsNorm{"rms_norm", CastPolicy::float32};

double smallest_step(DType dtype) {
  return dtype == DType::float64 ? std::numeric_limits<double>::epsilon()
                                 : static_cast<double>(std::numeric_limits<float>::epsilon());
}

/// The last dimensions, which are a row, and what is added to its mean square.
struct RootMeanSquare {
  Shape normalized;
  double eps;

  Shape dims() const {
    Shape dims;
    for (int i = 1; i <= normalized.dims(); ++i) dims.push_back(-i);
    return dims;
  }
};

bool is_computed_in_double(const Tensor& tensor) { return tensor.dtype() == DType::float64; }

Tensor widened(const Tensor& tensor) {
  return to_dtype(tensor, is_computed_in_double(tensor) ? DType::float64 : DType::float32);
}

// ---- composed of other ops ----------------------------------------------------------------------

Tensor reciprocal_roots(const Tensor& input, const RootMeanSquare& root) {
  const Tensor square = pow(input, 2.0);
  const Tensor shifted = add_(mean(square, root.dims(), true), root.eps);
  return rsqrt(shifted);
}

// The later versions round to half precision after the product with the weight.
Tensor composed(const Tensor& given, const RootMeanSquare& root,
                const std::optional<Tensor>& weight) {
  const Tensor input = widened(given);
  const Tensor scale = reciprocal_roots(input, root);
  const bool rounds_last = Context::current().rules.has_fused_rms_norm;
  const auto rounded = [&given](const Tensor& tensor) {
    return tensor.dtype() == given.dtype() ? tensor : to_dtype(tensor, given.dtype());
  };
  Tensor out = mul(input, scale);
  if (!rounds_last) out = rounded(out);
  if (weight) out = mul(out, *weight);
  return rounds_last ? rounded(out) : out;
}

// ---- one kernel ---------------------------------------------------------------------------------

void normalize_rows(const Tensor& input, const Tensor& weight, const RootMeanSquare& root,
                    const Tensor& out, const Tensor& rstd) {
  if (lacks_values(out)) return;
  const std::int64_t length = root.normalized.numel();
  if (are_rows_normalised_on_cuda({rstd.numel(), length}, {input, weight, {}}, root.eps, {{}, rstd},
                                  out)) {
    return;
  }
  visit_computed(input.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> inputs(input);
    const HostInput<T> weights(weight);
    HostOutput<T> outputs(out);
    HostOutput<T> scales(rstd);
    for (std::int64_t row = 0; row < rstd.numel(); ++row) {
      const T* x = inputs.data() + row * length;
      T* y = outputs.data() + row * length;
      double squares = 0;
      for (std::int64_t i = 0; i < length; ++i) {
        squares += static_cast<double>(x[i]) * static_cast<double>(x[i]);
      }
      const double mean = squares / static_cast<double>(length);
      const T scale = static_cast<T>(1.0 / std::sqrt(mean + root.eps));
      scales.data()[row] = scale;
      for (std::int64_t i = 0; i < length; ++i) {
        y[i] = x[i] * scale;
        if (weights.data() != nullptr) y[i] *= weights.data()[i];
      }
    }
    outputs.commit();
    scales.commit();
  });
}

// With x̂ the normalised row and h = grad · weight: (h − x̂ · mean(h·x̂)) · rstd.
template <class T>
void row_gradient(std::int64_t length, const T* grad, const T* x, const T* weight, T rstd,
                  T* target) {
  double products = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    const T h = weight == nullptr ? grad[i] : grad[i] * weight[i];
    products += static_cast<double>(h) * static_cast<double>(x[i] * rstd);
  }
  const T slope = static_cast<T>(products / static_cast<double>(length));
  for (std::int64_t i = 0; i < length; ++i) {
    const T h = weight == nullptr ? grad[i] : grad[i] * weight[i];
    target[i] = (h - x[i] * rstd * slope) * rstd;
  }
}

void compute_gradients(const Tensor& grad, const Tensor& input, const Tensor& weight,
                       const Tensor& rstd, const LayerGradients& out) {
  if (lacks_values(grad)) return;
  const std::int64_t length = rstd.numel() == 0 ? 0 : input.numel() / rstd.numel();
  if (length != 0 && are_norm_gradients_done_on_cuda({rstd.numel(), length}, grad,
                                                     {input, weight, {}}, {{}, rstd}, out)) {
    return;
  }
  std::vector<double> sums(out.weight.defined() ? static_cast<std::size_t>(out.weight.numel()) : 0);
  visit_computed(input.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> grads(grad);
    const HostInput<T> inputs(input);
    const HostInput<T> weights(weight);
    const HostInput<T> scales(rstd);
    HostOutput<T> target(out.input);
    for (std::int64_t row = 0; row < rstd.numel(); ++row) {
      const T* g = grads.data() + row * length;
      const T* x = inputs.data() + row * length;
      const T scale = scales.data()[row];
      for (std::size_t i = 0; i < sums.size(); ++i) {
        sums[i] += static_cast<double>(g[i] * x[i] * scale);
      }
      if (target.data() == nullptr) continue;
      row_gradient(length, g, x, weights.data(), scale, target.data() + row * length);
    }
    target.commit();
  });
  if (out.weight.defined()) store_values(out.weight, sums);
}

LayerGradients kernel_gradients(const BackwardCall& call) {
  const Tensor input = call.saved(0);
  const Tensor weight = call.saved(1);
  const Tensor packed_input = row_major(input);
  LayerGradients out;
  if (call.needs(0)) out.input = empty(input.shape(), options_of(input));
  if (call.needs(1)) out.weight = empty(weight.shape(), options_of(weight));
  const Tensor grad = row_major(call.grad());
  compute_gradients(grad, packed_input, weight, call.saved(2), out);
  return out;
}

// The same with a graph, of other ops.
LayerGradients recorded_gradients(const BackwardCall& call, const RootMeanSquare& root) {
  const Tensor input = call.saved(0);
  const Tensor weight = call.saved(1);
  const Tensor wide = widened(input);
  const Tensor grad = widened(call.grad());
  const Tensor scale = reciprocal_roots(wide, root);
  const Tensor normalized = mul(wide, scale);
  LayerGradients out;
  if (call.needs(0)) {
    const Tensor weighted = weight.defined() ? mul(grad, widened(weight)) : grad;
    const Tensor slope = mean(mul(weighted, normalized), root.dims(), true);
    const Tensor across = sub(weighted, mul(normalized, slope));
    out.input = to_dtype(mul(across, scale), input.dtype());
  }
  if (call.needs(1)) {
    const NormalizedRows rows = rows_of(input.shape(), root.normalized);
    const Tensor products = reshape(mul(grad, normalized), {rows.count, rows.length});
    const Tensor sums = sum(products, Shape{0}, false, std::nullopt);
    out.weight = to_dtype(reshape(sums, weight.shape()), weight.dtype());
  }
  return out;
}

Tensor fused(const Tensor& input, const RootMeanSquare& root, const Tensor& weight) {
  const Tensor packed = row_major(input);
  const TensorOptions options = options_of(input);
  const DType statistics = is_computed_in_double(input) ? DType::float64 : DType::float32;
  Tensor out = empty(input.shape(), options);
  const Tensor rstd =
      empty({rows_of(input.shape(), root.normalized).count}, {statistics, options.device});
  normalize_rows(packed, weight, root, out, rstd);
  Recorder record("FusedRmsNormBackward", {&input, &weight});
  if (!record.is_needed()) return out;
  record.save(input);
  record.save(weight);
  record.save(rstd);
  record.attach_differentiable(out, [root](BackwardCall& call) {
    const LayerGradients gradients =
        call.is_recorded() ? recorded_gradients(call, root) : kernel_gradients(call);
    return TensorList{gradients.input, gradients.weight};
  });
  return out;
}

}  // namespace

Tensor rms_norm(const Tensor& given, const Shape& normalized_shape,
                const std::optional<Tensor>& given_weight, std::optional<double> eps) {
  const RuleSet& rules = Context::current().rules;
  const OpFront front(rules.autocast_widens_rms_norm ? kCastRmsNorm : kRmsNorm);
  const std::optional<Tensor> weight = front.input(given_weight);
  const Tensor input = front.input(given);
  require_floating(input, kRmsNorm);
  if (!ends_with(input.shape(), normalized_shape)) {
    throw std::invalid_argument(
        fmt::format("[rms_norm] normalized_shape {} is not how an input of shape {} ends",
                    normalized_shape.str(), input.shape().str()));
  }
  const RootMeanSquare root{normalized_shape, eps.value_or(smallest_step(input.dtype()))};
  const bool has_one_dtype = !weight || weight->dtype() == input.dtype();
  if (!rules.has_fused_rms_norm || input.device().is_cpu() || !has_one_dtype) {
    return composed(input, root, weight);
  }
  if (weight) {
    require_same_device(input, *weight, kRmsNorm);
    if (!(weight->shape() == normalized_shape)) {
      throw std::invalid_argument(
          fmt::format("[rms_norm] the weight must have the shape {}, but has {}",
                      normalized_shape.str(), weight->shape().str()));
    }
  }
  return fused(input, root, weight.value_or(Tensor()));
}

std::vector<OpDef> rms_norm_ops() {
  return {define(kRmsNorm, kFunction | kFunctional, &rms_norm,
                 {"input", "normalized_shape", "weight", "eps"})};
}

}  // namespace ohm::ops
