// Functions of images and of logits that PyTorch composes of other ops.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// [N, C, H·r, W·r] to [N, C·r², H, W], with any leading dimensions for N.
Tensor pixel_unshuffle(const Tensor& input, std::int64_t downscale_factor);

/// Channels [N, C, …] of `groups` groups, one of each group after the other.
Tensor channel_shuffle(const Tensor& input, std::int64_t groups);

/// Each element over the mean of the squares of `size` channels around it, [N, C, …]:
/// x / (k + alpha · mean)^beta.
Tensor local_response_norm(const Tensor& input, std::int64_t size, double alpha, double beta,
                           double k);

/// A softmax of logits with noise along `dim`; `hard`: the largest is 1 and the others are 0, with
/// the softmax's gradient.
Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard, double eps, std::int64_t dim);

std::vector<OpDef> image_ops();

}  // namespace ohm::ops
