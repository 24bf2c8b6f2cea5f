// Dropout: elements are zeroed with probability p and the rest is scaled by 1/(1−p).
//
// Random numbers come from the device's generator, so equal seeds drop equal elements. Without
// training, and for p = 0, every form returns its input itself. Throws std::invalid_argument for
// p outside [0, 1].
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// Makes and keeps a mask of one byte for each element.
Tensor dropout(const Tensor& input, double p, bool training);

/// In place. What is kept is a tensor of the input's own size: in training this form costs more
/// than the other.
Tensor dropout_(const Tensor& input, double p, bool training);

/// Drops whole channels of [N, C, …]: one random number for each, kept in the input's dtype.
Tensor dropout2d(const Tensor& input, double p, bool training);
Tensor dropout2d_(const Tensor& input, double p, bool training);

/// The same of lines: what is not [N, C, L] has no N.
Tensor dropout1d(const Tensor& input, double p, bool training);
Tensor dropout1d_(const Tensor& input, double p, bool training);

/// Elements are set to what SELU gives at the very left, and all are moved and scaled to keep mean
/// and variance.
Tensor alpha_dropout(const Tensor& input, double p, bool training);
Tensor alpha_dropout_(const Tensor& input, double p, bool training);

/// The same of volumes: what is not [N, C, D, H, W] has no N.
Tensor dropout3d(const Tensor& input, double p, bool training);
Tensor dropout3d_(const Tensor& input, double p, bool training);

std::vector<OpDef> dropout_ops();

}  // namespace ohm::ops
