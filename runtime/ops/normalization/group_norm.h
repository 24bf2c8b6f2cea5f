// Normalisation of groups of channels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// input [N, C, *]: each of `num_groups` groups of channels of each sample has mean 0 and deviation
/// 1, then channel c is scaled by weight[c] and moved by bias[c]. Keeps the input, the weight, and
/// mean and inverse deviation [N, groups], in float32 for half precision too. With a weight or a
/// bias the kernel holds two factors for each channel of each sample while it runs. Under
/// pytorch-2.15 channels that lie last stay there, and what lies otherwise is copied for each pass.
Tensor group_norm(const Tensor& input, std::int64_t num_groups, const std::optional<Tensor>& weight,
                  const std::optional<Tensor>& bias, double eps);

std::vector<OpDef> group_norm_ops();

}  // namespace ohm::ops
