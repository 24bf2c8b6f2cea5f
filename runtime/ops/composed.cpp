#include "runtime/ops/composed.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/lifetimes/lifetimes.h"
#include "runtime/ops/activation/activation.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/normalization/batch_norm.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/clamp.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/reduction/norm.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/rearrange.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kNormalize{"normalize"};
constexpr OpInfo kCosineSimilarity{"cosine_similarity", CastPolicy::float32};
constexpr OpInfo kPairwiseDistance{"pairwise_distance"};
constexpr OpInfo kInstanceNorm{"instance_norm"};
constexpr OpInfo kOuter{"outer"};
constexpr OpInfo kPixelShuffle{"pixel_shuffle"};
constexpr OpInfo kSoftsign{"softsign"};
constexpr OpInfo kTanhshrink{"tanhshrink"};
constexpr OpInfo kSoftmin{"softmin"};
constexpr OpInfo kVstack{"vstack"};
constexpr OpInfo kHstack{"hstack"};

// A copy of the lengths along `dim` that is raised to eps in place, unseen by the graph.
Tensor bounded_lengths(const Tensor& tensor, std::int64_t dim, double eps) {
  Tensor lengths;
  {
    const Tensor exact = norm(tensor, 2.0, Shape{dim}, true);
    lengths = clone(exact);
  }
  map_floating(lengths, lengths.dtype(),
               functors::Clamp{eps, std::numeric_limits<double>::infinity()}, lengths);
  return lengths;
}

// A running statistic, and what has become of its copy for each sample, [samples, C].
struct SampledStatistic {
  Tensor running;
  Tensor of_samples;
};

// Outside the graph. PyTorch takes memory for one mean after the other; they are written once
// nothing can fail any more.
void average_samples(std::initializer_list<SampledStatistic> statistics) {
  const GradModeGuard no_graph(false);
  for (const SampledStatistic& statistic : statistics) mean(statistic.of_samples, Shape{0}, false);
  for (const auto& [running, of_samples] : statistics) {
    const std::int64_t samples = of_samples.shape()[0];
    copy_(running, select(of_samples, 0, 0));
    for (std::int64_t i = 1; i < samples; ++i) add_(running, select(of_samples, 0, i));
    div_(running, static_cast<double>(samples));
  }
}

Tensor softsign(const Tensor& input) {
  const OpFront front(kSoftsign);
  Tensor denominator;
  {
    const Tensor size = abs(input);
    denominator = add(size, 1.0);
  }
  return div(input, denominator);
}

Tensor tanhshrink(const Tensor& input) {
  const OpFront front(kTanhshrink);
  const Tensor bent = tanh(input);
  return sub(input, bent);
}

Tensor softmin(const Tensor& input, std::int64_t dim) {
  const OpFront front(kSoftmin);
  const Tensor negated = neg(input);
  return softmax(negated, dim, std::nullopt);
}

Tensor vstack(const std::vector<Tensor>& tensors) {
  const OpFront front(kVstack);
  std::vector<Tensor> rows;
  for (const Tensor& tensor : tensors) {
    rows.push_back(tensor.dims() == 1 ? unsqueeze(tensor, 0) : tensor);
  }
  return cat(rows, 0);
}

Tensor hstack(const std::vector<Tensor>& tensors) {
  const OpFront front(kHstack);
  const bool are_vectors = !tensors.empty() && tensors[0].dims() == 1;
  return cat(tensors, are_vectors ? 0 : 1);
}

}  // namespace

PixelMove PixelMove::back(const Shape& original) const {
  PixelMove move{Shape(), Shape(order.dims(), 0), original};
  for (int i = 0; i < order.dims(); ++i) {
    move.split.push_back(split[static_cast<int>(order[i])]);
    move.order[static_cast<int>(order[i])] = i;
  }
  return move;
}

Tensor moved_pixels(const Tensor& input, const PixelMove& move) {
  Tensor out;
  {
    const GradModeGuard no_graph(false);
    const Tensor split = reshape(input, move.split);
    out = reshaped_copy(clone_row_major(permute(split, move.order)), move.merged);
  }
  if (Recorder record("PixelShuffleBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [back = move.back(input.shape())](BackwardCall& call) {
      return TensorList{moved_pixels(call.grad(), back)};
    });
  }
  return out;
}

Tensor normalize(const Tensor& input, double p, std::int64_t dim, double eps) {
  const OpFront front(kNormalize);
  Tensor lengths;
  {
    const Tensor exact = norm(input, p, Shape{dim}, true);
    lengths = clamp(exact, eps, std::nullopt);
  }
  Tensor out = div(input, expand(lengths, input.shape()));
  outlive_arguments(std::move(lengths));
  return out;
}

Tensor cosine_similarity(const Tensor& given_x1, const Tensor& given_x2, std::int64_t dim,
                         double eps) {
  const OpFront front(kCosineSimilarity);
  const Tensor x2 = front.input(given_x2);
  const Tensor x1 = front.input(given_x1);
  require_same_device(x1, x2, kCosineSimilarity);
  const Shape shape = broadcast_shapes(x1.shape(), x2.shape(), "cosine_similarity");
  const Tensor wide2 = x2.shape() == shape ? x2 : expand(x2, shape);
  const Tensor wide1 = x1.shape() == shape ? x1 : expand(x1, shape);
  const Tensor lengths1 = bounded_lengths(wide1, dim, eps);
  const Tensor lengths2 = bounded_lengths(wide2, dim, eps);
  const bool holds_number =
      x1.device().is_cuda() && Context::current().rules.cosine_similarity_holds_number;
  const bool is_double = lengths1.dtype() == DType::float64;
  const TensorOptions of_number{is_double ? DType::float64 : DType::float32, x1.device()};
  const Tensor number = holds_number ? empty({}, of_number) : Tensor();
  const Tensor direction2 = div(wide2, lengths2);
  const Tensor direction1 = div(wide1, lengths1);
  return sum(mul(direction1, direction2), Shape{dim}, false, std::nullopt);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  const OpFront front(kPairwiseDistance);
  const Tensor gap = sub(x1, x2);
  const Tensor shifted = add(gap, eps);
  return norm(shifted, p, Shape{-1}, keepdim);
}

Tensor instance_norm(const Tensor& input, const std::optional<Tensor>& running_mean,
                     const std::optional<Tensor>& running_var, const std::optional<Tensor>& weight,
                     const std::optional<Tensor>& bias, bool use_input_stats, double momentum,
                     double eps) {
  const OpFront front(kInstanceNorm);
  if (input.dims() < 3) {
    throw std::invalid_argument(fmt::format(
        "[instance_norm] expected at least 3 dimensions [N, C, *], got {}", input.shape().str()));
  }
  const std::int64_t samples = input.shape()[0];
  const auto for_each_sample = [&](const std::optional<Tensor>& tensor) {
    return tensor ? std::optional<Tensor>(repeat(*tensor, Shape{samples})) : std::nullopt;
  };
  const std::optional<Tensor> weights = for_each_sample(weight);
  const std::optional<Tensor> biases = for_each_sample(bias);
  const std::optional<Tensor> means = for_each_sample(running_mean);
  const std::optional<Tensor> variances = for_each_sample(running_var);
  Shape shape = input.shape();
  shape[0] = 1;
  shape[1] *= samples;
  const Tensor as_channels = view(contiguous(input), shape);
  const Tensor out =
      batch_norm(as_channels, means, variances, weights, biases, use_input_stats, momentum, eps);
  const bool writes = use_input_stats || !Context::current().rules.instance_norm_reads_statistics;
  if (writes && running_mean && running_var) {
    const Shape rows{samples, running_mean->numel()};
    average_samples({{*running_mean, view(*means, rows)}, {*running_var, view(*variances, rows)}});
  }
  return view(out, input.shape());
}

Tensor outer(const Tensor& input, const Tensor& vec2) {
  const OpFront front(kOuter);
  if (input.dims() != 1 || vec2.dims() != 1) {
    throw std::invalid_argument(fmt::format("[outer] expected two vectors, got {} and {}",
                                            input.shape().str(), vec2.shape().str()));
  }
  return mul(reshape(input, {-1, 1}), vec2);
}

Tensor pixel_shuffle(const Tensor& input, std::int64_t upscale_factor) {
  const OpFront front(kPixelShuffle);
  const std::int64_t r = upscale_factor;
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();  // r² is a number, too
  const bool fits = input.dims() == 4 && r > 0 && r <= kMost && input.shape()[1] % (r * r) == 0;
  if (!fits) {
    throw std::invalid_argument(fmt::format(
        "[pixel_shuffle] channels of an input [N, C, H, W] must be divisible by {} · {}: {}", r, r,
        input.shape().str()));
  }
  const Shape& s = input.shape();
  const std::int64_t channels = s[1] / (r * r);
  return moved_pixels(input, {{s[0], channels, r, r, s[2], s[3]},
                              {0, 1, 4, 2, 5, 3},
                              {s[0], channels, s[2] * r, s[3] * r}});
}

std::vector<OpDef> composed_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const std::int64_t one = 1;
  return {
      define(kNormalize, kFunctional, &normalize,
             {"input", {"p", 2.0}, {"dim", one}, {"eps", 1e-12}}),
      define(kCosineSimilarity, kFunction | kCppFunctional, &cosine_similarity,
             {"x1", "x2", {"dim", one}, {"eps", 1e-8}}),
      define(kPairwiseDistance, kFunction | kCppFunctional, &pairwise_distance,
             {"x1", "x2", {"p", 2.0}, {"eps", 1e-6}, {"keepdim", false}}),
      define(kInstanceNorm, kFunctional, &instance_norm,
             {"input",
              ParamName::constant("running_mean"),
              ParamName::constant("running_var"),
              "weight",
              "bias",
              {"use_input_stats", true},
              {"momentum", 0.1},
              {"eps", 1e-5}}),
      define(kOuter, kBoth, &outer, {"input", "vec2"}),
      define(kPixelShuffle, kFunction | kCppFunctional, &pixel_shuffle,
             {"input", "upscale_factor"}),
      define(kSoftsign, kFunctional, &softsign, {"input"}),
      define(kTanhshrink, kFunctional, &tanhshrink, {"input"}),
      define(kSoftmin, kFunctional, &softmin, {"input", {"dim", std::int64_t{-1}}}),
      define(kVstack, kFunction, &vstack, {"tensors"}),
      define(kHstack, kFunction, &hstack, {"tensors"}),
  };
}

}  // namespace ohm::ops
