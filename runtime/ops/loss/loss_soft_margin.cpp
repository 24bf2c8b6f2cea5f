#include "runtime/ops/loss/loss_soft_margin.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/ops/loss/loss_kernel.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/reduction/reduction.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kSoftMargin{"soft_margin_loss", CastPolicy::float32};

// In place after the first step; the reduced loss is copied into what was all losses.
Tensor soft_margins(const Tensor& input, const Tensor& target, Reduction reduction) {
  const NoGradGuard no_graph;
  Tensor out = neg(input);
  mul_(out, target);
  map_floating(out, out.dtype(), functors::Exp(), out);
  map_floating(out, out.dtype(), functors::Log1p(), out);
  if (reduction == Reduction::none) return out;
  const Tensor loss = reduced(out, reduction);
  shrink_to_scalar(out);
  copy_into(out, loss);
  return out;
}

Tensor soft_margin_gradient(const Tensor& grad, const Tensor& input, const Tensor& target,
                            Reduction reduction) {
  const NoGradGuard no_graph;
  Tensor powers;
  {
    const Tensor opposite = neg(target);
    const Tensor product = mul(opposite, input);
    powers = exp(product);
  }
  Tensor out = mul(target, powers);
  mul_(out, -gradient_factor(reduction, input.numel()));
  add_(powers, 1.0);
  div_(out, powers);
  mul_(out, grad);
  return out;
}

// With z = exp(−t · x) the slope bends as t² · z / (1 + z)².
Tensor soft_margin_bend(const Tensor& grad, const Tensor& input, const Tensor& target,
                        Reduction reduction) {
  Tensor powers;
  {
    const Tensor opposite = neg(target);
    const Tensor product = mul(input, opposite);
    powers = exp(product);
  }
  const Tensor raised = add(powers, 1.0);
  const Tensor squared = mul(raised, raised);
  const Tensor squared_target = mul(target, target);
  const Tensor weighted = mul(grad, squared_target);
  const Tensor scaled = mul(weighted, powers);
  Tensor bent = div(scaled, squared);
  if (reduction != Reduction::mean) return bent;
  return mul_(bent, gradient_factor(reduction, input.numel()));
}

// The gradient as an op of its own, with a gradient.
Tensor recorded_soft_margin_gradient(const Tensor& grad, const Tensor& input, const Tensor& target,
                                     Reduction reduction) {
  Recorder record("SoftMarginLossBackwardBackward", {&grad, &input});
  record.save(grad);
  record.save(input);
  record.save(target);
  Tensor out = soft_margin_gradient(grad, input, target, reduction);
  record.attach_differentiable(out, [reduction](BackwardCall& call) {
    const Tensor first_grad = call.saved(0);
    const Tensor x = call.saved(1);
    const Tensor t = call.saved(2);
    TensorList grads(2);
    if (call.needs(0) && reduction == Reduction::none) {
      grads[0] = recorded_soft_margin_gradient(call.grad(), x, t, reduction);
    } else if (call.needs(0)) {
      Tensor slopes;
      {
        const Tensor one = ones_like(first_grad);
        slopes = recorded_soft_margin_gradient(one, x, t, reduction);
      }
      grads[0] = sum(mul(slopes, call.grad()));
    }
    if (call.needs(1)) {
      const Tensor both = mul(call.grad(), first_grad);
      grads[1] = soft_margin_bend(both, x, t, reduction);
    }
    return grads;
  });
  return out;
}

}  // namespace

Tensor soft_margin_loss(const Tensor& given, const Tensor& given_target, Reduction reduction) {
  const OpFront front(kSoftMargin);
  const Tensor target = front.input(given_target);
  const Tensor input = front.input(given);
  require_floating(input, kSoftMargin);
  require_same_device(input, target, kSoftMargin);
  Recorder record("SoftMarginLossBackward", {&input});
  record.save(input);
  record.save(target);
  Tensor out = soft_margins(input, target, reduction);
  record.attach_differentiable(out, [reduction](BackwardCall& call) {
    return TensorList{
        recorded_soft_margin_gradient(call.grad(), call.saved(0), call.saved(1), reduction)};
  });
  return out;
}

std::vector<OpDef> soft_margin_ops() {
  return {
      define(kSoftMargin, kFunctional, &soft_margin_loss,
             {"input", ParamName::constant("target"), {"reduction", std::string("mean")}}),
  };
}

}  // namespace ohm::ops
