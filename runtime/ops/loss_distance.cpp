#include "runtime/ops/loss_distance.h"

#include <cmath>

#include "runtime/kernels/functors/distance.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/inplace_binary.h"
#include "runtime/ops/loss_kernel.h"
#include "runtime/ops/pointwise_unary.h"
#include "runtime/ops/reduction.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMse{"mse_loss", CastPolicy::float32};
constexpr OpInfo kSmoothL1{"smooth_l1_loss", CastPolicy::float32};
constexpr OpInfo kHuber{"huber_loss", CastPolicy::float32};
constexpr OpInfo kL1{"l1_loss", CastPolicy::float32};

// Each loss: its value, and its slope by the prediction. Of the squared error the slope can be
// differentiated again.

struct SquaredError : functors::SquaredError {};
using functors::Huber;
using functors::SmoothL1;

// The plain formula of a loss, which kernels are made of.
functors::SquaredError formula_of(const SquaredError& loss) { return loss; }
template <class Loss>
Loss formula_of(const Loss& loss) {
  return loss;
}

Recorder record_operands(std::string_view node, const LossOperands& operands) {
  Recorder record(node, {&operands.input, &operands.target});
  record.save(operands.input);
  record.save(operands.target);
  return record;
}

// The gradient of the squared error as an op of its own, with a gradient.
Tensor recorded_gradient(const Tensor& grad, const Tensor& x, const Tensor& t, double factor) {
  Recorder record("MseLossBackwardBackward", {&grad, &x, &t});
  record.save(grad);
  record.save(x);
  record.save(t);
  Tensor out = distance_gradient(grad, x, t, factor, functors::SquaredError{});
  record.attach_differentiable(out, [factor](BackwardCall& call) {
    const Tensor outer = call.saved(0);
    const Tensor of = call.saved(1);
    const Tensor from = call.saved(2);
    const auto curvature = [&] {
      const Tensor product = formula::product(call.grad(), outer);
      const Tensor twice = formula::times(product, 2.0);
      return factor == 1.0 ? twice : mul_(twice, factor);
    };
    TensorList grads(3);
    if (call.needs(0)) {
      const Tensor slope =
          call.is_recorded()
              ? recorded_gradient(ones_like(outer), of, from, factor)
              : distance_gradient(ones_like(outer), of, from, factor, functors::SquaredError{});
      const Tensor product = formula::product(slope, call.grad());
      grads[0] = outer.dims() == 0 ? sum(product) : product;
    }
    if (call.needs(1)) grads[1] = curvature();
    if (call.needs(2)) grads[2] = neg(curvature());
    return grads;
  });
  return out;
}

// The distance is symmetric: the target's gradient is the prediction's with the operands swapped.
template <class Loss>
void attach_loss(Recorder& record, const LossOperands& operands, const Tensor& out,
                 Reduction reduction, Loss loss) {
  const double factor = gradient_factor(reduction, operands.shape.numel());
  constexpr bool kIsDifferentiable = std::is_same_v<Loss, SquaredError>;
  const auto gradients = [factor, loss](BackwardCall& call) {
    const Tensor x = call.saved(0);
    const Tensor t = call.saved(1);
    const auto along = [&](const Tensor& of, const Tensor& from) {
      if constexpr (kIsDifferentiable) {
        if (call.is_recorded()) return recorded_gradient(call.grad(), of, from, factor);
      }
      return distance_gradient(call.grad(), of, from, factor, formula_of(loss));
    };
    TensorList grads(2);
    if (call.needs(0)) grads[0] = along(x, t);
    if (call.needs(1)) grads[1] = along(t, x);
    return grads;
  };
  if constexpr (kIsDifferentiable) {
    record.attach_differentiable(out, gradients);
  } else {
    record.attach(out, gradients);
  }
}

template <class Loss>
void compute_losses(const Tensor& out, const LossOperands& operands, Loss loss) {
  const functors::DistanceValue<decltype(formula_of(loss))> value{formula_of(loss)};
  compute_into(out, operands.input, operands.target, value);
}

// The result is allocated with the operands' shape before it shrinks to one number; the losses
// themselves are a second, temporary tensor.
template <class Loss>
Tensor oversized_loss(const OpInfo& info, std::string_view node, const Tensor& input,
                      const Tensor& target, Reduction reduction, Loss loss) {
  const OpFront front(info);
  const LossOperands operands(front, info, input, target);
  Recorder record = record_operands(node, operands);
  Tensor out = operands.empty_losses();
  if (reduction == Reduction::none) {
    compute_losses(out, operands, loss);
  } else {
    shrink_to_scalar(out);
    const Tensor losses = operands.empty_losses();
    compute_losses(losses, operands, loss);
    reduce_losses_into(out, losses, reduction);
  }
  attach_loss(record, operands, out, reduction, loss);
  return out;
}

// A prediction and a target, no element at an edge of the pieces.
std::vector<Sample> prediction_and_target() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const Shape shape{2, 3};
  const auto pair = [&] {
    return Sample{from_values({0.4, -1.7, 2.5, 0.1, -0.3, 1.2}, shape, options),
                  from_values({0.1, 0.6, -1.1, 0.5, -0.8, 3.0}, shape, options)};
  };
  std::vector<Sample> samples = {pair(), pair(), pair()};
  samples[0].emplace_back(std::string("mean"));
  samples[1].emplace_back(std::string("sum"));
  samples[2].emplace_back(std::string("none"));
  return samples;
}

}  // namespace

Tensor mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  return oversized_loss(kMse, "MseLossBackward", input, target, reduction, SquaredError{});
}

Tensor smooth_l1_loss(const Tensor& input, const Tensor& target, Reduction reduction, double beta) {
  if (!(beta > 0)) {
    throw std::invalid_argument(
        fmt::format("[smooth_l1_loss] beta must be positive, not {}: l1_loss is its limit", beta));
  }
  return oversized_loss(kSmoothL1, "SmoothL1LossBackward", input, target, reduction,
                        SmoothL1{beta});
}

Tensor huber_loss(const Tensor& input, const Tensor& target, Reduction reduction, double delta) {
  if (!(delta > 0)) {
    throw std::invalid_argument(fmt::format("[huber_loss] delta must be positive, not {}", delta));
  }
  const OpFront front(kHuber);
  const LossOperands operands(front, kHuber, input, target);
  const Huber loss{delta};
  Recorder record = record_operands("HuberLossBackward", operands);
  const Tensor losses = operands.empty_losses();
  compute_losses(losses, operands, loss);
  Tensor out = reduced(losses, reduction);
  attach_loss(record, operands, out, reduction, loss);
  return out;
}

Tensor l1_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  const OpFront front(kL1);
  const LossOperands operands(front, kL1, input, target);
  const Tensor distance = sub(operands.input, operands.target);
  Tensor losses = abs(distance);
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::mean ? mean(losses) : sum(losses);
}

std::vector<OpDef> distance_loss_ops() {
  const ParamName reduction{"reduction", std::string("mean")};
  return {
      define(kMse, kFunctional, &mse_loss, {"input", "target", reduction}, prediction_and_target),
      define(kSmoothL1, kFunctional, &smooth_l1_loss, {"input", "target", reduction, {"beta", 1.0}},
             prediction_and_target),
      define(kHuber, kFunctional, &huber_loss, {"input", "target", reduction, {"delta", 1.0}},
             prediction_and_target),
      define(kL1, kFunctional, &l1_loss, {"input", "target", reduction}, prediction_and_target),
  };
}

}  // namespace ohm::ops
