// Gradients added to the `.grad` of leaves.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm {

/// The first gradient is taken over as it is when it has no other owner and its layout is the
/// leaf's; else it is copied. Later ones are added in place. Where the graph of the gradient is
/// recorded nothing is taken over or written to. Then runs the leaf's hooks: `grad` is let go after
/// them.
void accumulate_grad(const Tensor& leaf, const Tensor& grad);

}  // namespace ohm
