// Batch normalisation.
#pragma once

#include <optional>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// (input − mean) / √(variance + eps) · weight + bias for each channel of [N, C, …], where mean
/// and (biased) variance are those of the input when `training` or without running statistics,
/// else the running ones. When training the running statistics move by `momentum` towards the
/// input's mean and unbiased variance, in place.
///
/// cuDNN computes it for three and more dimensions, unless input or weight is bfloat16, or the
/// weight of a float16 input is not float32, or cuDNN is switched off; its workspace and reserve
/// are taken to be 0 bytes (modelled). Else PyTorch's own kernels do. Kept are input, weight and
/// running statistics, and the statistics used: two tensors of C accumulation elements, which
/// cuDNN does not make in evaluation.
///
/// Throws std::invalid_argument for shapes that do not fit, and for one value per channel when
/// training.
Tensor batch_norm(const Tensor& input, const std::optional<Tensor>& running_mean,
                  const std::optional<Tensor>& running_var, const std::optional<Tensor>& weight,
                  const std::optional<Tensor>& bias, bool training, double momentum, double eps);

/// What PyTorch's own kernels take beside their results while they look at all of `input`: for
/// mean and deviation, and for the sums of gradients.
void take_statistics_scratch(const Tensor& input);
void take_gradient_sums_scratch(const Tensor& input);
/// Whether those for channels that lie next to each other are the ones.
bool has_channels_last_kernels(const Tensor& input);

std::vector<OpDef> batch_norm_ops();

}  // namespace ohm::ops
