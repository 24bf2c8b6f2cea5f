#include "runtime/ops/loss/loss_bce.h"

#include <cmath>

#include "runtime/arithmetic/copy.h"
#include "runtime/autograd/autograd_state.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/kernels/functors/activation.h"
#include "runtime/ops/loss/loss_bce_twice.h"
#include "runtime/ops/loss/loss_kernel.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/inplace_unary.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kBce{"binary_cross_entropy"};
constexpr OpInfo kBceWithLogits{"binary_cross_entropy_with_logits", CastPolicy::float32};

constexpr functors::LogSigmoid kLogSigmoidFunctor;
constexpr functors::Sigmoid kSigmoidFunctor;

void require_same_shape(const LossOperands& operands, const OpInfo& info) {
  if (operands.input.shape() == operands.target.shape()) return;
  throw std::invalid_argument(fmt::format("[{}] target size {} must be the same as input size {}",
                                          info.name, operands.target.shape().str(),
                                          operands.input.shape().str()));
}

void forbid_under_autocast(const Tensor& input) {
  const AutocastState* state = find_autocast_state();
  if (state == nullptr || !state->is_enabled || !input.device().is_cuda()) return;
  throw std::invalid_argument(
      "[binary_cross_entropy] binary_cross_entropy and BCELoss are unsafe to autocast: combine the "
      "sigmoid and the loss with binary_cross_entropy_with_logits, which is safe");
}

Tensor bce_losses(const LossOperands& operands, const Tensor& weight) {
  Tensor losses = empty_like(operands.input);
  compute_into(losses, operands.input, operands.target, functors::CrossEntropyValue());
  if (weight.defined()) mul_(losses, weight);
  return losses;
}

// The losses' own tensor becomes the result: it shrinks to one number and keeps its storage.
void reduce_in_place(Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) return;
  const Tensor result = reduced(losses, reduction);
  shrink_to_scalar(losses);
  copy_into(losses, result);
}

BinaryCrossEntropyPass bce_pass(const BackwardCall& call, double factor) {
  return {call.grad(), call.saved(0), call.saved(1), call.saved(2), Tensor(), factor};
}

// Laid out as the prediction is.
Tensor bce_gradient(BackwardCall& call, std::size_t side, double factor) {
  const Tensor x = call.saved(0);
  const Tensor t = call.saved(1);
  Tensor grad = empty_like(x);
  if (side == 0) {
    compute_gradient_into(grad, call.grad(), x, t, factor, functors::CrossEntropy());
  } else {
    compute_gradient_into(grad, call.grad(), t, x, factor, functors::CrossEntropyOfTarget());
  }
  if (const Tensor weight = call.saved(2); weight.defined()) mul_(grad, weight);
  return grad;
}

// −log(sigmoid(x)) weighs positives: it is scaled by 1 + (pos_weight − 1)·t.
void weigh_positives(const Tensor& log_sigmoids, const Tensor& target, const Tensor& pos_weight) {
  const NoGradGuard no_grad;
  const Tensor factors = mul(sub(pos_weight, 1.0), target);
  add_(factors, 1.0);
  mul_(log_sigmoids, factors);
}

Tensor logit_losses(const LossOperands& operands, const Tensor& log_sigmoids,
                    const Tensor& weight) {
  const NoGradGuard no_grad;
  Tensor losses = rsub(operands.target, 1.0);
  mul_(losses, operands.input);
  sub_(losses, log_sigmoids);
  if (weight.defined()) mul_(losses, weight);
  return losses;
}

BinaryCrossEntropyPass logit_pass(const BackwardCall& call, double factor) {
  return {call.grad(), call.saved(1), call.saved(2), call.saved(3), call.saved(0), factor};
}

Tensor logit_gradient(const BinaryCrossEntropyPass& pass) {
  Tensor out;
  if (pass.pos_weight.defined()) {
    const Tensor positives = mul(pass.pos_weight, pass.target);
    out = add(positives, 1.0);
    sub_(out, pass.target);
    mul_(out, map_new(pass.input, kSigmoidFunctor));
    sub_(out, positives);
    mul_(out, pass.grad);
  } else {
    out = map_new(pass.input, kSigmoidFunctor);
    sub_(out, pass.target);
    mul_(out, pass.grad);
  }
  if (pass.weight.defined()) mul_(out, pass.weight);
  if (pass.factor != 1.0) mul_(out, pass.factor);
  return out;
}

Tensor or_undefined(const OpFront& front, const std::optional<Tensor>& tensor) {
  return tensor ? front.input(*tensor) : Tensor();
}

}  // namespace

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const std::optional<Tensor>& weight, Reduction reduction) {
  forbid_under_autocast(input);
  const OpFront front(kBce);
  const Tensor factors = or_undefined(front, weight);
  const LossOperands operands(front, kBce, input, target);
  require_same_shape(operands, kBce);
  Recorder record("BinaryCrossEntropyBackward", {&operands.input, &operands.target});
  record.save(operands.input);
  record.save(operands.target);
  record.save(factors);
  Tensor out = bce_losses(operands, factors);
  reduce_in_place(out, reduction);
  const double factor = gradient_factor(reduction, operands.shape.numel());
  record.attach_differentiable(out, [factor](BackwardCall& call) {
    TensorList grads(2);
    if (call.needs(0)) {
      grads[0] = bce_gradient(call, 0, factor);
      if (call.is_recorded()) record_bce_gradient(bce_pass(call, factor), grads[0]);
    }
    if (call.needs(1)) {
      grads[1] = call.is_recorded() ? recorded_bce_target_gradient(bce_pass(call, factor))
                                    : bce_gradient(call, 1, factor);
    }
    return grads;
  });
  return out;
}

Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const std::optional<Tensor>& weight, Reduction reduction,
                                        const std::optional<Tensor>& pos_weight) {
  const OpFront front(kBceWithLogits);
  const Tensor positive_factors = or_undefined(front, pos_weight);
  const Tensor factors = or_undefined(front, weight);
  const LossOperands operands(front, kBceWithLogits, input, target);
  require_same_shape(operands, kBceWithLogits);
  Recorder record("BinaryCrossEntropyWithLogitsBackward", {&operands.input, &operands.target});
  record.save(positive_factors);
  record.save(operands.input);
  record.save(operands.target);
  record.save(factors);
  const Tensor log_sigmoids = map_new(operands.input, kLogSigmoidFunctor);
  if (pos_weight) weigh_positives(log_sigmoids, operands.target, positive_factors);
  const Tensor losses = logit_losses(operands, log_sigmoids, factors);
  Tensor out = reduced(losses, reduction);
  const double factor = gradient_factor(reduction, operands.shape.numel());
  record.attach_differentiable(out, [factor](BackwardCall& call) {
    const BinaryCrossEntropyPass pass = logit_pass(call, factor);
    TensorList grads(2);
    if (call.needs(0)) {
      grads[0] = call.is_recorded() ? recorded_logit_gradient(pass) : logit_gradient(pass);
    }
    if (call.needs(1)) grads[1] = logit_target_gradient(pass);
    return grads;
  });
  return out;
}

std::vector<OpDef> bce_loss_ops() {
  const ParamName weight = ParamName::constant("weight");
  const ParamName reduction{"reduction", std::string("mean")};
  return {
      define(kBce, kFunctional, &binary_cross_entropy, {"input", "target", weight, reduction}),
      define(kBceWithLogits, kFunctional, &binary_cross_entropy_with_logits,
             {"input", "target", weight, reduction, ParamName::constant("pos_weight")}),
  };
}

}  // namespace ohm::ops
