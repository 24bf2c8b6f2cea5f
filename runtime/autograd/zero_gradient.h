// A gradient of zeros without memory: the slope of a sign. PyTorch has a tensor for it that ops
// know; here the engine alone sees it, and what is not added to other gradients gets its memory.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm {

/// Shaped as `like`, of its dtype and device.
Tensor zero_gradient(const Tensor& like);
bool is_zero_gradient(const Tensor& tensor);

/// `grad` itself, or zeros with memory.
Tensor with_memory(const Tensor& grad);

/// a + b, where one or both are zeros without memory. `a_is_free`: nothing else owns `a`, which may
/// be added to. Otherwise the other one is copied; PyTorch makes one number on its way.
Tensor sum_with_zero_gradient(const Tensor& a, const Tensor& b, bool a_is_free);

}  // namespace ohm
