#include "runtime/ops/image/image_composition.h"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/lifetimes/lifetimes.h"
#include "runtime/ops/activation/softmax.h"
#include "runtime/ops/composed.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/indexing/scatter.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/pooling/average_pool.h"
#include "runtime/ops/pooling/average_pool_volumes.h"
#include "runtime/ops/reduction/extremum.h"
#include "runtime/ops/shape/rearrange.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kPixelUnshuffle{"pixel_unshuffle"};
constexpr OpInfo kChannelShuffle{"channel_shuffle"};
constexpr OpInfo kLocalResponseNorm{"local_response_norm"};
constexpr OpInfo kGumbelSoftmax{"gumbel_softmax"};

// The squares of `size` channels around each, averaged, as PyTorch sees them: of [N, C, L] as one
// image [N, 1, C, L], of what has more dimensions as a volume [N, 1, C, H, …].
Tensor mean_of_neighbours(const Tensor& input, std::int64_t size) {
  const Shape& sizes = input.shape();
  const std::int64_t before = size / 2;
  const std::int64_t behind = (size - 1) / 2;
  Tensor squares = mul(input, input);
  if (sizes.dims() == 3) {
    squares = unsqueeze(squares, 1);
    squares = pad(squares, {0, 0, before, behind}, "constant", 0.0);
    return squeeze(avg_pool2d(squares, {size, 1}, Shape{1}, Shape{0}, false, true, std::nullopt),
                   1);
  }
  squares = view(squares, {sizes[0], 1, sizes[1], sizes[2], -1});
  squares = pad(squares, {0, 0, 0, 0, before, behind}, "constant", 0.0);
  squares =
      squeeze(avg_pool3d(squares, {size, 1, 1}, Shape{1}, Shape{0}, false, true, std::nullopt), 1);
  return view(squares, sizes);
}

// Standard Gumbel noise: minus the logarithm of draws from an exponential distribution.
Tensor gumbel_noise(const Tensor& logits) {
  Tensor logarithm;
  {
    const NoGradGuard no_graph;
    const Tensor draws = rand(logits.shape(), options_of(logits));
    map_floating(
        draws, draws.dtype(), [](double u) { return -std::log1p(-u); }, draws);
    logarithm = log(draws);
  }
  return neg(logarithm);
}

// Ones where the softmax is largest, with its gradient.
Tensor hardened(const Tensor& soft, const Tensor& logits, std::int64_t dim) {
  Tensor index = max(soft, dim, true).second;
  Tensor chosen = zeros(logits.shape(), options_of(logits));
  scatter_(chosen, dim, index, 1.0);
  Tensor result;
  {
    const Tensor gap = sub(chosen, detached_alias(soft));
    result = add(gap, soft);
  }
  outlive_arguments(soft);
  outlive_arguments(std::move(index));
  outlive_arguments(std::move(chosen));
  return result;
}

}  // namespace

Tensor pixel_unshuffle(const Tensor& input, std::int64_t downscale_factor) {
  const OpFront front(kPixelUnshuffle);
  const std::int64_t r = downscale_factor;
  const int dims = input.dims();
  const bool fits = dims == 4 && r > 0 && input.shape()[2] % r == 0 && input.shape()[3] % r == 0;
  if (!fits) {
    throw std::invalid_argument(
        fmt::format("[pixel_unshuffle] height and width of an input [N, C, H, W] must be divisible "
                    "by {}: {}",
                    r, input.shape().str()));
  }
  const Shape& s = input.shape();
  return moved_pixels(input, {{s[0], s[1], s[2] / r, r, s[3] / r, r},
                              {0, 1, 3, 5, 2, 4},
                              {s[0], s[1] * r * r, s[2] / r, s[3] / r}});
}

Tensor channel_shuffle(const Tensor& input, std::int64_t groups) {
  const OpFront front(kChannelShuffle);
  const bool fits = input.dims() > 2 && groups > 0 && input.shape()[1] % groups == 0;
  if (!fits || input.numel() == 0) {
    throw std::invalid_argument(fmt::format(
        "[channel_shuffle] channels of an input [N, C, …] must be divisible by {} groups: {}",
        groups, input.shape().str()));
  }
  const Shape& s = input.shape();
  const std::int64_t pixels = input.numel() / (s[0] * s[1]);
  Tensor out;
  {
    const NoGradGuard no_graph;
    const Tensor split = view(input, {s[0], groups, s[1] / groups, pixels});
    out = reshaped_copy(contiguous(permute(split, {0, 2, 1, 3})), s);
  }
  if (Recorder record("ChannelShuffleBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [back = s[1] / groups](BackwardCall& call) {
      return TensorList{channel_shuffle(call.grad(), back)};
    });
  }
  return out;
}

Tensor local_response_norm(const Tensor& input, std::int64_t size, double alpha, double beta,
                           double k) {
  const OpFront front(kLocalResponseNorm);
  require_floating(input, kLocalResponseNorm);
  if (input.dims() < 3) {
    throw std::invalid_argument(
        fmt::format("[local_response_norm] expected [N, C, …] of 3 dimensions or more, but got {}",
                    input.shape().str()));
  }
  if (size < 1) throw std::invalid_argument("[local_response_norm] size must be positive");
  if (input.numel() == 0) return input;
  Tensor divisor = mean_of_neighbours(input, size);
  Tensor shifted;
  {
    const Tensor scaled = mul(divisor, alpha);
    shifted = add(scaled, k);
  }
  Tensor power = pow(shifted, beta);
  shifted = Tensor();
  divisor = std::move(power);
  Tensor out = div(input, divisor);
  outlive_arguments(std::move(divisor));
  return out;
}

Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard, double /*eps*/,
                      std::int64_t dim) {
  const OpFront front(kGumbelSoftmax);
  require_floating(logits, kGumbelSoftmax);
  Tensor noisy;
  {
    const Tensor noise = gumbel_noise(logits);
    const Tensor sum = add(logits, noise);
    noisy = div(sum, tau);
  }
  Tensor soft = softmax(noisy, dim, std::nullopt);
  outlive_arguments(std::move(noisy));
  return hard ? hardened(soft, logits, dim) : soft;
}

std::vector<OpDef> image_ops() {
  return {
      define(kPixelUnshuffle, kFunction | kCppFunctional, &pixel_unshuffle,
             {"input", "downscale_factor"}),
      define(kChannelShuffle, kFunction | kCppFunctional, &channel_shuffle, {"input", "groups"}),
      define(kLocalResponseNorm, kFunctional, &local_response_norm,
             {"input", "size", {"alpha", 1e-4}, {"beta", 0.75}, {"k", 1.0}}),
      define(kGumbelSoftmax, kFunctional, &gumbel_softmax,
             {"logits", {"tau", 1.0}, {"hard", false}, {"eps", 1e-10}, {"dim", std::int64_t{-1}}}),
  };
}

}  // namespace ohm::ops
