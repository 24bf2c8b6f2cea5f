#include "runtime/ops/loss/loss_bce_twice.h"

#include <cmath>

#include "runtime/autograd/recorder.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/clamp.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/pointwise/power.h"

namespace ohm::ops {
namespace {

constexpr double kEps = 1e-12;  // of binary_cross_entropy, whatever the dtype

Tensor weighed(const Tensor& grad, const BinaryCrossEntropyPass& pass) {
  if (pass.weight.defined()) mul_(grad, pass.weight);
  return pass.factor == 1.0 ? grad : mul(grad, pass.factor);
}

// grad · (x − t) / ((x + ε) · (1 − x + ε))
Tensor gradient_of_grad(const BinaryCrossEntropyPass& pass, const Tensor& grad) {
  Tensor result;
  {
    const Tensor left = rsub(pass.input, 1.0);
    const Tensor shifted_left = add(left, kEps);
    const Tensor shifted = add(pass.input, kEps);
    const Tensor both = mul(shifted, shifted_left);
    const Tensor distance = sub(pass.input, pass.target);
    result = div(distance, both);
  }
  mul_(result, grad);
  return weighed(result, pass);
}

// grad · (x² − 2xt + t) / ((x + ε)² · (1 − x + ε)²), whose factors are made from right to left as a
// C++ compiler evaluates them.
Tensor gradient_of_input(const BinaryCrossEntropyPass& pass, const Tensor& grad) {
  const Tensor shifted = add(pass.input, kEps);
  const Tensor shifted_left = add(rsub(pass.input, 1.0), kEps);
  Tensor result;
  {
    const Tensor squares_left = pow(shifted_left, 2.0);
    const Tensor squares = pow(shifted, 2.0);
    const Tensor both = mul(squares, squares_left);
    const Tensor twice = mul(pass.input, 2.0);
    const Tensor products = mul(twice, pass.target);
    const Tensor input_squares = mul(pass.input, pass.input);
    const Tensor differences = sub(input_squares, products);
    const Tensor curvature = add(differences, pass.target);
    result = div(curvature, both);
  }
  {
    const Tensor products = mul(grad, pass.grad);
    mul_(result, products);
  }
  return weighed(result, pass);
}

// −grad · first grad / (x · (1 − x))
Tensor gradient_of_target(const BinaryCrossEntropyPass& pass, const Tensor& grad) {
  Tensor result;
  {
    const Tensor negated = neg(grad);
    result = mul(negated, pass.grad);
  }
  if (pass.weight.defined()) mul_(result, pass.weight);
  const Tensor spread = mul_(rsub(pass.input, 1.0), pass.input);
  map_floating(spread, spread.dtype(), clamped(kEps, std::nullopt), spread);
  div_(result, spread);
  return pass.factor == 1.0 ? result : mul_(result, pass.factor);
}

// log(x / (1 − x)); its gradient is a kernel, which is not recorded.
Tensor logit(const Tensor& x) {
  Recorder record("LogitBackward", {&x});
  record.save(x);
  Tensor out = map_new(x, [](auto p) { return std::log(p / (1 - p)); });
  record.attach(out, [](BackwardCall& call) {
    return TensorList{
        map_new(call.grad(), call.saved(0), [](auto g, auto p) { return g / (p * (1 - p)); })};
  });
  return out;
}

}  // namespace

void record_bce_gradient(const BinaryCrossEntropyPass& pass, const Tensor& out) {
  Recorder record("BinaryCrossEntropyBackwardBackward", {&pass.grad, &pass.input, &pass.target});
  if (!record.is_needed()) return;
  for (const Tensor* kept : {&pass.grad, &pass.input, &pass.target, &pass.weight}) {
    record.save(*kept);
  }
  record.attach(out, [factor = pass.factor](BackwardCall& call) {
    const BinaryCrossEntropyPass first{call.saved(0), call.saved(1), call.saved(2),
                                       call.saved(3), Tensor(),      factor};
    TensorList grads{Tensor(), Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = gradient_of_input(first, call.grad());
    if (call.needs(2)) grads[2] = gradient_of_target(first, call.grad());
    if (call.needs(0)) grads[0] = gradient_of_grad(first, call.grad());
    return grads;
  });
}

Tensor recorded_bce_target_gradient(const BinaryCrossEntropyPass& pass) {
  const Tensor result = mul_(logit(pass.input), -1.0);
  mul_(result, pass.grad);
  if (pass.weight.defined()) mul_(result, pass.weight);
  return pass.factor == 1.0 ? result : mul_(result, pass.factor);
}

Tensor recorded_logit_gradient(const BinaryCrossEntropyPass& pass) {
  Tensor result;
  if (pass.pos_weight.defined()) {
    const Tensor positives = mul(pass.pos_weight, pass.target);
    const Tensor larger = add(positives, 1.0);
    const Tensor distance = sub(larger, pass.target);
    const Tensor probability = sigmoid(pass.input);
    const Tensor product = mul(distance, probability);
    result = sub(product, positives);
  } else {
    const Tensor probability = sigmoid(pass.input);
    result = sub(probability, pass.target);
  }
  result = mul(result, pass.grad);
  if (pass.weight.defined()) result = mul(result, pass.weight);
  return pass.factor == 1.0 ? result : mul_(result, pass.factor);
}

Tensor logit_target_gradient(const BinaryCrossEntropyPass& pass) {
  Tensor result;
  if (pass.pos_weight.defined()) {
    const Tensor negated = neg(pass.input);
    result = logsigmoid(negated);
    const Tensor positives = mul_(logsigmoid(pass.input), pass.pos_weight);
    sub_(result, positives);
    mul_(result, pass.grad);
  } else {
    const Tensor negated = neg(pass.input);
    result = mul(negated, pass.grad);
  }
  if (pass.weight.defined()) mul_(result, pass.weight);
  return pass.factor == 1.0 ? result : mul_(result, pass.factor);
}

}  // namespace ohm::ops
