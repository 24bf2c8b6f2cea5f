#include "runtime/ops/loss/loss_nll.h"

#include <fmt/core.h>

#include <stdexcept>
#include <string>

#include "runtime/arithmetic/copy.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/functors/rows.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/indexing/index_places.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kNllLoss{"nll_loss", CastPolicy::float32};

// The input as [samples, classes, positions], row-major.
struct ClassLayout {
  std::int64_t samples = 1;
  std::int64_t classes = 1;
  std::int64_t positions = 1;
};

struct NllCall {
  ClassLayout layout;
  Reduction reduction;
  std::int64_t ignore_index;
};

int nll_class_dim(const Tensor& input) { return input.dims() == 1 ? 0 : 1; }

ClassLayout layout_of(const Shape& shape) {
  if (shape.dims() == 1) return {1, shape[0], 1};
  ClassLayout layout{shape[0], shape[1], 1};
  for (int dim = 2; dim < shape.dims(); ++dim) layout.positions *= shape[dim];
  return layout;
}

}  // namespace

void check_class_targets(const Tensor& input, const Tensor& target,
                         const std::optional<Tensor>& weight) {
  if (input.dims() == 0) {
    throw std::invalid_argument("[nll_loss] the input must have at least one dimension: [C]");
  }
  Shape expected = input.shape();
  expected.erase(nll_class_dim(input));
  if (!(target.shape() == expected)) {
    throw std::invalid_argument(
        fmt::format("[nll_loss] an input of shape {} expects a target of shape {}, but got {}",
                    input.shape().str(), expected.str(), target.shape().str()));
  }
  if (target.dtype() != DType::int64) {
    throw std::invalid_argument(
        fmt::format("[nll_loss] the target holds class indices: expected int64, not {}",
                    name_of(target.dtype())));
  }
  const Shape classes{input.shape()[nll_class_dim(input)]};
  if (weight && !(weight->shape() == classes)) {
    throw std::invalid_argument(
        fmt::format("[nll_loss] weight must have one value for each class, shape {}, but got {}",
                    classes.str(), weight->shape().str()));
  }
  if (input.device() != target.device() || (weight && weight->device() != input.device())) {
    throw std::invalid_argument(
        fmt::format("[nll_loss] expected all tensors to be on the same device, but found {} and {}",
                    input.device().str(),
                    (input.device() != target.device() ? target : *weight).device().str()));
  }
}

namespace {

std::string no_class(std::int64_t target, std::int64_t classes) {
  return fmt::format("[nll_loss] target {} is out of bounds: there are {} classes", target,
                     classes);
}

// Throws for a target that is not a class, as require_places does.
void require_classes(const NllCall& call, const Tensor& target) {
  if (target.numel() == 0) return;
  const std::int64_t classes = call.layout.classes;
  const bool is_deferred = is_checked_on_cuda(
      target, {strided_index_of(target, 0, false), 0, classes, call.ignore_index},
      [classes](std::int64_t index) { return no_class(index, classes); });
  if (is_deferred) return;
  const auto* indices = target.data<const std::int64_t>();
  for (std::int64_t i = 0; i < target.numel(); ++i) {
    const std::int64_t index = indices[i];
    if (index == call.ignore_index || (index >= 0 && index < classes)) continue;
    throw std::invalid_argument(no_class(index, classes));
  }
}

functors::ChosenClass chosen_class(const NllCall& call) {
  return {call.layout.positions, call.ignore_index, call.layout.classes};
}

void compute_losses(const NllCall& call, const Tensor& input, const Tensor& target,
                    const Tensor& given_weight, const Tensor& out, const Tensor& total_weight) {
  const Tensor scores = row_major(input);
  const Tensor indices = row_major(target);
  const Tensor weight = given_weight.defined() ? row_major(given_weight) : Tensor();
  if (!out.has_values()) return;
  require_classes(call, indices);
  const functors::ChosenClass chosen = chosen_class(call);
  if (call.reduction == Reduction::none) {
    fill_values(total_weight, 0.0);
    run_floating_rows(functors::ChosenLoss{chosen}, input.dtype(), thread_for_each(indices.numel()),
                      {{out}, {scores, indices, weight}});
    return;
  }
  const functors::ChosenLosses losses{chosen, call.reduction == Reduction::mean};
  run_floating_rows(losses, input.dtype(), {1, indices.numel()},
                    {{out, total_weight}, {scores, indices, weight}});
}

Tensor nll_gradient(const NllCall& call, const Tensor& grad, const Tensor& input,
                    const Tensor& target, const Tensor& given_weight, const Tensor& total_weight) {
  Tensor out = zeros(input.shape(), options_of(input));
  const Tensor indices = row_major(target);
  const Tensor g = row_major(grad);
  const Tensor weight = given_weight.defined() ? row_major(given_weight) : Tensor();
  if (!out.has_values()) return out;
  const bool is_mean = call.reduction == Reduction::mean;
  const functors::ChosenBackward slope{chosen_class(call), call.reduction != Reduction::none,
                                       is_mean};
  run_floating_rows(slope, input.dtype(), thread_for_each(indices.numel()),
                    {{out}, {g, indices, weight, is_mean ? total_weight : Tensor()}});
  return out;
}

// Allocates in the order of PyTorch's kernels: the one for [N, C] makes the loss first, the one
// for images the total weight.
std::pair<Tensor, Tensor> empty_results(const Tensor& input, const Shape& shape) {
  if (input.dims() <= 2) {
    Tensor out = empty(shape, options_of(input));
    return {out, empty({}, options_of(input))};
  }
  Tensor total_weight = empty({}, options_of(input));
  return {empty(shape, options_of(input)), total_weight};
}

// The losses or their reduction, and the total weight.
std::pair<Tensor, Tensor> nll_losses(const NllCall& call, const Tensor& scores,
                                     const Tensor& target, const Tensor& weight) {
  const auto results =
      empty_results(scores, call.reduction == Reduction::none ? target.shape() : Shape());
  compute_losses(call, scores, target, weight, results.first, results.second);
  return results;
}

// What is neither [N, C] nor an image is computed as an image of one row, of row-major targets.
Tensor as_image_targets(const Tensor& input, const Tensor& target) {
  if (input.dims() < 3 || input.dims() == 4 || input.numel() == 0) return target;
  const Shape image{target.shape()[0], 1, target.numel() / target.shape()[0]};
  return unrecorded_reshape(row_major(target), image);
}

}  // namespace

Tensor nll_loss(const Tensor& input, const Tensor& given_target,
                const std::optional<Tensor>& weight, std::int64_t ignore_index,
                Reduction reduction) {
  const OpFront front(kNllLoss);
  check_class_targets(input, given_target, weight);
  const Tensor target = as_image_targets(input, given_target);
  const Tensor scores = front.input(input);
  require_floating(scores, kNllLoss);
  const Tensor class_weight = weight ? front.input(*weight) : Tensor();
  const NllCall call{layout_of(scores.shape()), reduction, ignore_index};
  Recorder record("NllLossBackward", {&scores});
  record.save(scores);
  record.save(target);
  record.save(class_weight);
  const auto [out, total_weight] = nll_losses(call, scores, target, class_weight);
  if (record.is_needed()) {
    record.save(total_weight);
    record.attach_differentiable(out, [call](BackwardCall& backward) {
      const Tensor classes = backward.saved(1);
      const Tensor weights = backward.saved(2);
      const Tensor scored = backward.saved(0);
      Tensor grad =
          nll_gradient(call, backward.grad(), scored, classes, weights, backward.saved(3));
      // It is linear: differentiated again, it is the loss of the gradient's gradient, and zeros.
      if (Recorder again("NllLossBackwardBackward", {&backward.grad(), &scored});
          again.is_needed()) {
        again.save(classes);
        again.save(weights);
        again.attach_differentiable(grad, [call](BackwardCall& second) {
          TensorList grads(2);
          if (second.needs(0)) {
            const Tensor class_weights = second.saved(1);
            Shape targets = second.grad().shape();
            targets.erase(nll_class_dim(second.grad()));
            grads[0] =
                nll_loss(second.grad(), unrecorded_reshape(second.saved(0), targets),
                         class_weights.defined() ? std::optional(class_weights) : std::nullopt,
                         call.ignore_index, call.reduction);
          }
          if (second.needs(1)) grads[1] = zeros_like(second.grad());
          return grads;
        });
      }
      return TensorList{grad};
    });
  }
  if (reduction == Reduction::none && !(out.shape() == given_target.shape())) {
    return view(out, given_target.shape());
  }
  return out;
}

std::vector<OpDef> nll_loss_ops() {
  const std::vector<ParamName> params = {"input",
                                         "target",
                                         ParamName::constant("weight"),
                                         {"ignore_index", std::int64_t{-100}},
                                         {"reduction", std::string("mean")}};
  return {
      define(kNllLoss, kFunctional, &nll_loss, params),
  };
}

}  // namespace ohm::ops
