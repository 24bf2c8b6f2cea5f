#include "runtime/ops/normalization/layer_norm.h"

#include <cmath>
#include <utility>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/normalization/cuda/layer_norm.h"
#include "runtime/ops/normalization/layer_norm_twice.h"
#include "runtime/ops/normalization/normalized_rows.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kLayerNorm{"layer_norm", CastPolicy::float32};

void check(const NormalisedInputs& operands, const Shape& normalized) {
  const Shape& shape = operands.input.shape();
  require_floating(operands.input, kLayerNorm);
  if (!ends_with(shape, normalized)) {
    throw std::invalid_argument(
        fmt::format("[layer_norm] Given normalized_shape={}, expected input with shape [*, {}, but "
                    "got input of size {}",
                    normalized.str(), normalized.str().substr(1), shape.str()));
  }
  for (const Tensor* tensor : {&operands.weight, &operands.bias}) {
    if (!tensor->defined()) continue;
    require_same_device(operands.input, *tensor, kLayerNorm);
    if (tensor->shape() == normalized) continue;
    throw std::invalid_argument(
        fmt::format("[layer_norm] weight and bias must have the shape {}, but got {}",
                    normalized.str(), tensor->shape().str()));
  }
}

// Where they are not kept, the mean goes before rstd.
struct LayerNormResults {
  Tensor rstd;
  Tensor mean;
  Tensor out;
};

void compute(const NormalizedRows& rows, const NormalisedInputs& operands, double eps,
             const LayerNormResults& results) {
  if (!results.out.has_values()) return;
  if (are_rows_normalised_on_cuda({rows.count, rows.length}, operands, eps,
                                  {results.mean, results.rstd}, results.out)) {
    return;
  }
  visit_computed(operands.input.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> inputs(operands.input);
    const HostInput<T> weights(operands.weight);
    const HostInput<T> biases(operands.bias);
    HostOutput<T> out(results.out);
    HostOutput<T> means(results.mean);
    HostOutput<T> deviations(results.rstd);
    const auto length = static_cast<double>(rows.length);
    for (std::int64_t row = 0; row < rows.count; ++row) {
      const T* x = inputs.data() + row * rows.length;
      T* y = out.data() + row * rows.length;
      double sum = 0;
      for (std::int64_t i = 0; i < rows.length; ++i) sum += static_cast<double>(x[i]);
      const double mean = sum / length;
      double squares = 0;
      for (std::int64_t i = 0; i < rows.length; ++i) {
        const double distance = static_cast<double>(x[i]) - mean;
        squares += distance * distance;
      }
      means.data()[row] = static_cast<T>(mean);
      deviations.data()[row] = static_cast<T>(1.0 / std::sqrt(squares / length + eps));
      for (std::int64_t i = 0; i < rows.length; ++i) {
        y[i] = (x[i] - means.data()[row]) * deviations.data()[row];
        if (weights.data() != nullptr) y[i] *= weights.data()[i];
        if (biases.data() != nullptr) y[i] += biases.data()[i];
      }
    }
    out.commit();
    means.commit();
    deviations.commit();
  });
}

LayerNormResults forward(const NormalizedRows& rows, const NormalisedInputs& operands, double eps) {
  const NormalisedInputs packed{row_major(operands.input), operands.weight, operands.bias};
  const TensorOptions options = options_of(operands.input);
  const DType statistics = options.dtype == DType::float64 ? DType::float64 : DType::float32;
  Tensor out = empty(operands.input.shape(), options);
  Tensor mean = empty({rows.count}, {statistics, options.device});
  Tensor rstd = empty({rows.count}, {statistics, options.device});
  LayerNormResults results{std::move(rstd), std::move(mean), std::move(out)};
  compute(rows, packed, eps, results);
  return results;
}

// With x̂ the normalised row and h = grad · weight: (h − mean(h) − x̂ · mean(h·x̂)) · rstd.
template <class T>
void row_gradient(const NormalizedRows& rows, const T* grad, const T* normalised, const T* weight,
                  T rstd, T* target) {
  double sum = 0;
  double sum_of_products = 0;
  for (std::int64_t i = 0; i < rows.length; ++i) {
    const auto h = static_cast<double>(weight == nullptr ? grad[i] : grad[i] * weight[i]);
    sum += h;
    sum_of_products += h * static_cast<double>(normalised[i]);
  }
  const auto length = static_cast<double>(rows.length);
  const T mean = static_cast<T>(sum / length);
  const T slope = static_cast<T>(sum_of_products / length);
  for (std::int64_t i = 0; i < rows.length; ++i) {
    const T h = weight == nullptr ? grad[i] : grad[i] * weight[i];
    target[i] = (h - mean - normalised[i] * slope) * rstd;
  }
}

void compute_gradients(const NormalizedRows& rows, const Tensor& grad, const Tensor& input,
                       const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                       const LayerGradients& out) {
  if (lacks_values(grad)) return;
  const auto length = static_cast<std::size_t>(rows.length);
  std::vector<double> weight_sums(length);
  std::vector<double> bias_sums(length);
  if (grad.numel() == 0) {  // nothing was normalised
    store_values(out.weight, weight_sums);
    store_values(out.bias, bias_sums);
    return;
  }
  if (are_norm_gradients_done_on_cuda({rows.count, rows.length}, grad, {input, weight, {}},
                                      {mean, rstd}, out)) {
    return;
  }
  visit_computed(input.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> grads(grad);
    const HostInput<T> inputs(input);
    const HostInput<T> means(mean);
    const HostInput<T> deviations(rstd);
    const HostInput<T> weights(weight);
    HostOutput<T> target(out.input);
    std::vector<T> normalised(length);
    for (std::int64_t row = 0; row < rows.count; ++row) {
      const T* g = grads.data() + row * rows.length;
      const T* x = inputs.data() + row * rows.length;
      const T deviation = deviations.data()[row];
      for (std::size_t i = 0; i < length; ++i) {
        normalised[i] = (x[i] - means.data()[row]) * deviation;
        weight_sums[i] += static_cast<double>(g[i] * normalised[i]);
        bias_sums[i] += static_cast<double>(g[i]);
      }
      if (target.data() == nullptr) continue;
      row_gradient(rows, g, normalised.data(), weights.data(), deviation,
                   target.data() + row * rows.length);
    }
    target.commit();
  });
  store_values(out.weight, weight_sums);
  store_values(out.bias, bias_sums);
}

TensorList backward(const NormalizedRows& rows, const BackwardCall& call) {
  const Tensor input = call.saved(1);
  const Tensor weight = call.saved(2);
  const Tensor mean = call.saved(3);
  const Tensor packed_input = row_major(input);
  LayerGradients out;
  if (call.needs(0)) out.input = empty(input.shape(), options_of(input));
  if (call.needs(1)) out.weight = empty(weight.shape(), options_of(weight));
  if (call.needs(2)) out.bias = empty(call.saved(0).shape(), options_of(call.saved(0)));
  const Tensor grad = row_major(call.grad());
  compute_gradients(rows, grad, packed_input, mean, call.saved(4), weight, out);
  if (call.is_recorded()) {
    record_layer_norm_gradients(
        {call.grad(), input, weight, mean, call.saved(4), rows.count, rows.length}, out);
  }
  return {out.input, out.weight, out.bias};
}

}  // namespace

Tensor layer_norm(const Tensor& input, const Shape& normalized_shape,
                  const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                  double eps) {
  const OpFront front(kLayerNorm);
  Tensor cast_bias = front.input(bias).value_or(Tensor());
  Tensor cast_weight = front.input(weight).value_or(Tensor());
  const NormalisedInputs operands{front.input(input), std::move(cast_weight), std::move(cast_bias)};
  check(operands, normalized_shape);
  const NormalizedRows rows = rows_of(operands.input.shape(), normalized_shape);
  Recorder record("NativeLayerNormBackward", {&operands.input, &operands.weight, &operands.bias});
  record.save(operands.bias);
  record.save(operands.input);
  record.save(operands.weight);
  LayerNormResults results = forward(rows, operands, eps);
  record.save(results.mean);
  record.save(results.rstd);
  record.attach_differentiable(results.out,
                               [rows](BackwardCall& call) { return backward(rows, call); });
  return results.out;
}

std::vector<OpDef> layer_norm_ops() {
  return {define(kLayerNorm, kFunction | kFunctional, &layer_norm,
                 {"input", "normalized_shape", "weight", "bias", {"eps", 1e-5}})};
}

}  // namespace ohm::ops
