#include "runtime/ops/loss/loss_distance.h"

#include <cmath>

#include "runtime/arithmetic/copy.h"
#include "runtime/kernels/functors/distance.h"
#include "runtime/ops/loss/loss_kernel.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/reduction/reduction.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMse{"mse_loss", CastPolicy::float32};
constexpr OpInfo kSmoothL1{"smooth_l1_loss", CastPolicy::float32};
constexpr OpInfo kHuber{"huber_loss", CastPolicy::float32};
constexpr OpInfo kL1{"l1_loss", CastPolicy::float32};

// Each loss: its value, its slope by the prediction, and how that bends.

using functors::Huber;
using functors::SmoothL1;
using functors::SquaredError;

Recorder record_operands(std::string_view node, const LossOperands& operands) {
  Recorder record(node, {&operands.input, &operands.target});
  record.save(operands.input);
  record.save(operands.target);
  return record;
}

Tensor distance_of(const Tensor& x, const Tensor& t) { return abs(sub(x, t)); }

// grad · the second derivative of the loss by the prediction, before it is averaged.
Tensor bend(const SquaredError& /*loss*/, const Tensor& grad, const Tensor& /*x*/,
            const Tensor& /*t*/) {
  return formula::times(grad, 2.0);
}
Tensor bend(const SmoothL1& loss, const Tensor& grad, const Tensor& x, const Tensor& t) {
  const Tensor distance = distance_of(x, t);
  const Tensor is_near = lt(distance, loss.beta);
  const Tensor near = cast(is_near, grad.dtype());
  const Tensor bent = formula::product(grad, near);
  return div(bent, loss.beta);
}
Tensor bend(const Huber& loss, const Tensor& grad, const Tensor& x, const Tensor& t) {
  const Tensor distance = distance_of(x, t);
  return formula::product(grad, lt(distance, loss.delta));
}

template <class Loss>
struct SlopeOf {
  Loss loss;
  Reduction reduction;
  double factor;  ///< of what is averaged
};

template <class Loss>
Tensor recorded_slope(const SlopeOf<Loss>& slope, const Tensor& grad, const Tensor& x,
                      const Tensor& t);

// The gradient of the slope by the gradient that it was given, of the losses' shape: what receives
// it sums it. The sum is part of the formula where PyTorch's has it.
template <class Loss>
Tensor slope_by_grad(const SlopeOf<Loss>& slope, const Tensor& grad, const Tensor& /*first_grad*/,
                     const Tensor& x, const Tensor& t) {
  return recorded_slope(slope, grad, x, t);
}
Tensor slope_by_grad(const SlopeOf<Huber>& slope, const Tensor& grad, const Tensor& first_grad,
                     const Tensor& x, const Tensor& t) {
  if (slope.reduction == Reduction::none) return recorded_slope(slope, grad, x, t);
  Tensor slopes;
  {
    const Tensor one = ones_like(first_grad);
    slopes = recorded_slope(slope, one, x, t);
  }
  return sum(formula::product(slopes, grad));
}

template <class Loss>
Tensor plain_slope(const SlopeOf<Loss>& slope, const Tensor& grad, const Tensor& x,
                   const Tensor& t) {
  return distance_gradient(grad, x, t, slope.factor, slope.loss);
}

// The gradient of a loss as an op of its own, with a gradient.
template <class Loss>
Tensor recorded_slope(const SlopeOf<Loss>& slope, const Tensor& grad, const Tensor& x,
                      const Tensor& t) {
  Recorder record("DistanceLossBackwardBackward", {&grad, &x, &t});
  record.save(grad);
  record.save(x);
  record.save(t);
  Tensor out = plain_slope(slope, grad, x, t);
  record.attach_differentiable(out, [slope](BackwardCall& call) {
    const Tensor first_grad = call.saved(0);
    const Tensor of = call.saved(1);
    const Tensor from = call.saved(2);
    const auto bent = [&](const Tensor& along) {
      const Tensor averaged = bend(slope.loss, along, of, from);
      return slope.reduction == Reduction::mean ? mul_(averaged, slope.factor) : averaged;
    };
    TensorList grads(3);
    if (call.needs(0)) grads[0] = slope_by_grad(slope, call.grad(), first_grad, of, from);
    if (call.needs(1)) {
      const Tensor both = formula::product(call.grad(), first_grad);
      grads[1] = bent(both);
    }
    if (call.needs(2)) {
      const Tensor both = formula::product(call.grad(), first_grad);
      const Tensor of_prediction = bent(both);
      grads[2] = neg(of_prediction);
    }
    return grads;
  });
  return out;
}

// The distance is symmetric: the target's gradient is the prediction's with the operands swapped.
template <class Loss>
void attach_loss(Recorder& record, const LossOperands& operands, const Tensor& out,
                 Reduction reduction, Loss loss) {
  const SlopeOf<Loss> slope{loss, reduction, gradient_factor(reduction, operands.shape.numel())};
  record.attach_differentiable(out, [slope](BackwardCall& call) {
    const Tensor x = call.saved(0);
    const Tensor t = call.saved(1);
    TensorList grads(2);
    if (call.needs(0)) grads[0] = recorded_slope(slope, call.grad(), x, t);
    if (call.needs(1)) grads[1] = recorded_slope(slope, call.grad(), t, x);
    return grads;
  });
}

template <class Loss>
void compute_losses(const Tensor& out, const LossOperands& operands, Loss loss) {
  const functors::DistanceValue<Loss> value{loss};
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
  // Laid out as the input alone.
  const Tensor losses =
      empty_for_loop(operands.shape, {&operands.input}, {operands.dtype, operands.input.device()});
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
      define(kMse, kFunctional, &mse_loss, {"input", "target", reduction}),
      define(kSmoothL1, kFunctional, &smooth_l1_loss,
             {"input", "target", reduction, {"beta", 1.0}}),
      define(kHuber, kFunctional, &huber_loss, {"input", "target", reduction, {"delta", 1.0}}),
      define(kL1, kFunctional, &l1_loss, {"input", "target", reduction}),
  };
}

}  // namespace ohm::ops
