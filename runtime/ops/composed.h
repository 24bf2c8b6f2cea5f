// Functions that PyTorch composes of others: their graph, and what they allocate, is that of their
// parts.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// input / max(‖input‖ₚ along dim, eps).
Tensor normalize(const Tensor& input, double p, std::int64_t dim, double eps);
/// Of vectors along `dim`; lengths below eps count as eps.
Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, std::int64_t dim, double eps);
/// ‖x1 − x2 + eps‖ₚ of the last dimension.
Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim);
/// Each channel of each image normalised by itself, input [N, C, *]; with `use_input_stats` false
/// by the running statistics. Those become the mean of what batch_norm() makes of each image's
/// copy.
Tensor instance_norm(const Tensor& input, const std::optional<Tensor>& running_mean,
                     const std::optional<Tensor>& running_var, const std::optional<Tensor>& weight,
                     const std::optional<Tensor>& bias, bool use_input_stats, double momentum,
                     double eps);
Tensor outer(const Tensor& input, const Tensor& vec2);
/// [*, C·r², H, W] -> [*, C, H·r, W·r].
Tensor pixel_shuffle(const Tensor& input, std::int64_t upscale_factor);

/// Dimensions that are split, put into another order, and merged in a copy.
struct PixelMove {
  Shape split;
  Shape order;
  Shape merged;

  /// What undoes it, of an input of this shape.
  PixelMove back(const Shape& original) const;
};
/// The gradient is moved back, in a copy too.
Tensor moved_pixels(const Tensor& input, const PixelMove& move);

std::vector<OpDef> composed_ops();

}  // namespace ohm::ops
