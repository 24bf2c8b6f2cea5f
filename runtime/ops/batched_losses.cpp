#include "runtime/ops/batched_losses.h"

#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/choice.h"
#include "runtime/ops/comparison.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/loss_kernel.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/scatter.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

int dim_of_classes(const Tensor& input) { return input.dims() < 2 ? 0 : 1; }

const TensorOrNumber kZero = Number(std::int64_t{0});

// `values` where the target counts, else 0. The mask goes before what it was made for is used.
Tensor kept(const BatchedNll& call, const Tensor& target, const Tensor& values) {
  return where_of(ne(target, Number(call.ignore_index)), values, kZero);
}

// A weight for each class, seen beside the input.
Tensor beside_classes(const Tensor& weight, const Tensor& input) {
  Shape shape(input.dims(), 1);
  shape[dim_of_classes(input)] = weight.size(0);
  return reshape(weight, shape);
}

Tensor picked(const Tensor& from, int dim, const Tensor& places) {
  return squeeze(gather(from, dim, places), dim);
}

// The weights of all targets, or how many there are.
Tensor total_of(const BatchedNll& call, const Tensor& input, const Tensor& target,
                const Tensor& places, const Tensor& weight) {
  if (!weight.defined()) {
    const Tensor count = sum(ne(target, Number(call.ignore_index)));
    return to_dtype(count, input.dtype());
  }
  const Tensor each = picked(expand(weight, input.shape()), dim_of_classes(input), places);
  return sum(kept(call, target, each));
}

}  // namespace

std::pair<Tensor, Tensor> batched_nll_loss(const BatchedNll& call, const Tensor& given,
                                           const Tensor& target, const Tensor& given_weight) {
  const NoGradGuard no_grad;
  const int dim = dim_of_classes(given);
  Tensor weight;
  Tensor input = given;
  if (given_weight.defined()) {
    weight = input.dims() > 1 ? beside_classes(given_weight, input) : given_weight;
    input = mul(input, weight);
  }
  const Tensor places = unsqueeze(kept(call, target, target), dim);
  Tensor losses = neg(picked(input, dim, places));
  losses = kept(call, target, losses);
  if (call.reduction == Reduction::none && given.dims() > 1) {
    return {losses, full({}, 0.0, options_of(given))};
  }
  const Tensor total = total_of(call, input, target, places, weight);
  if (call.reduction == Reduction::sum) return {sum(losses), total};
  if (call.reduction == Reduction::mean) return {div(sum(losses), total), total};
  return {losses, total};
}

// What is kept in variables goes at the end, the gradient first.
Tensor batched_nll_gradient(const BatchedNll& call, const Tensor& given, const Tensor& input,
                            const Tensor& given_target, const Tensor& weight,
                            const Tensor& total_weight) {
  const NoGradGuard no_grad;
  const int dim = dim_of_classes(input);
  Tensor slope;
  Tensor places;
  Tensor grad = given;
  if (call.reduction == Reduction::mean) grad = div(grad, total_weight);
  const Tensor target = unsqueeze(given_target, dim);
  places = kept(call, target, target);
  slope = zeros_like(input);
  slope = scatter(slope, dim, places, Number(-1.0));
  if (slope.dims() > grad.dims() && grad.dims() > 0) grad = unsqueeze(grad, dim);
  if (weight.defined()) grad = mul(grad, beside_classes(weight, input));
  grad = kept(call, target, grad);
  return mul(slope, grad);
}

Tensor batched_mse_loss(const Tensor& input, const Tensor& target, Reduction reduction) {
  const NoGradGuard no_grad;
  const auto flat = [](const Tensor& tensor) {
    return tensor.dims() > 1 ? flatten(tensor, 0, -1) : tensor;
  };
  const Tensor x = flat(input);
  const Tensor t = flat(target);
  const DType dtype = promote_types(x.dtype(), t.dtype());
  const Tensor losses = empty_for_loop(broadcast_shapes(x.shape(), t.shape(), "mse_loss"), {&x, &t},
                                       {dtype, x.device()});
  compute_into(losses, x, t, functors::DistanceValue<functors::SquaredError>{});
  if (losses.dims() == 0) return losses;
  if (reduction == Reduction::none) return unsafe_view(losses, input.shape());
  return reduction == Reduction::mean ? mean(losses, Shape{-1}, false)
                                      : sum(losses, Shape{-1}, false, std::nullopt);
}

Tensor batched_mse_gradient(const Tensor& grad, const Tensor& input, const Tensor& target,
                            double factor) {
  const NoGradGuard no_grad;
  const Tensor scaled = mul(sub(input, target), factor);
  return mul(scaled, grad);
}

}  // namespace ohm::ops
