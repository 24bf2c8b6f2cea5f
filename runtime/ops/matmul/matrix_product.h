// Matrix products on raw tensors: no graph, no autocast. On the host or a CUDA device.
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// a [m, k] · b [k, n] in a new row-major tensor [m, n]. An operand that the library cannot read
/// (rows and columns both strided, or repeated) is copied to a temporary first. Same dtype and
/// device for both: checked by the callers.
Tensor raw_mm(const Tensor& a, const Tensor& b);

/// a [batch, m, k] · b [batch, k, n] in a new row-major tensor [batch, m, n].
Tensor raw_bmm(const Tensor& a, const Tensor& b);
/// The same, written to `out`, which is row-major.
void multiply_batches(const Tensor& a, const Tensor& b, const Tensor& out);

/// bias + a · b: bias broadcasts to [m, n]. A one-dimensional bias of n > 1 columns with k > 1
/// goes through cuBLASLt and its temporary workspace.
Tensor raw_addmm(const Tensor& bias, const Tensor& a, const Tensor& b);
/// beta · bias + alpha · (a · b). A bias that is weighed never goes through cuBLASLt.
Tensor raw_weighted_addmm(const Tensor& bias, const Tensor& a, const Tensor& b, double beta,
                          double alpha);

/// out = beta · out + alpha · (a · b) of floating matrices, or of batches of them; where beta is 0
/// what `out` held does not count. What the library cannot read is copied to a temporary first.
void multiply_onto(const Tensor& out, const Tensor& a, const Tensor& b, double beta, double alpha);

}  // namespace ohm::ops
