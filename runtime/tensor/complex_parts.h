// Complex tensors as pairs of real numbers: views of the same bytes, apart from any graph.
//
// Whether the elements are conjugated (TensorImpl::is_conjugated) is not seen in these views: what
// reads them resolves that first, by unconjugated() (runtime/arithmetic/complex_copy.h).
#pragma once

#include "runtime/tensor/tensor.h"

namespace ohm {

/// Real and imaginary parts as the last dimension: [..., 2]. Pre-condition: `tensor` is complex.
Tensor parts_of(const Tensor& tensor);

/// The real parts (0) or the imaginary ones (1), in the shape of `tensor`, which is complex.
Tensor part_of(const Tensor& tensor, int part);

/// [..., 2] seen as complex: the reverse of parts_of(). Pre-condition: float32 or float64, the last
/// dimension is of size 2 and stride 1, all other strides and the offset are even.
Tensor complex_of_parts(const Tensor& parts);

/// The same elements, each conjugated: no memory is read or written.
Tensor conjugated_view(const Tensor& tensor);

}  // namespace ohm
