// The dimensions kept beside a tensor (batched.h), as far as tensors themselves know of them.
#pragma once

namespace ohm {

class Tensor;
struct TensorImpl;

/// Whether a dimension of this level is kept beside `tensor`, or of any where it is 0.
bool is_batched(const Tensor& tensor, int level = 0);

/// `view` lies along the samples as `base` does.
void inherit_batch_dims(const Tensor& view, const Tensor& base);
/// `impl` is about to go.
void forget_batch_dims(const TensorImpl* impl);

}  // namespace ohm
