// Views between complex tensors and their parts, and the conjugate, which is one too: no memory is
// read or written.
//
// Errors: std::invalid_argument naming op and shape or dtype. A graph refuses writes to a view of
// another dtype than its base.
#pragma once

#include <vector>

#include "runtime/ops/op.h"

namespace ohm::ops {

/// [...] of a complex dtype as [..., 2] of real and imaginary parts. A tensor that is lazily
/// conjugated has no such view.
Tensor view_as_real(const Tensor& input);
/// [..., 2] of float32 or float64 as complex. The last dimension lies without gaps, and every other
/// stride and the offset are even.
Tensor view_as_complex(const Tensor& input);
/// The real parts; a real tensor itself. `imag` takes complex tensors alone.
Tensor real(const Tensor& input);
Tensor imag(const Tensor& input);
/// The conjugate, lazily: an op that computes with it makes a conjugated copy for as long as it
/// runs. A real tensor itself.
Tensor conj(const Tensor& input);
/// A copy where the tensor is lazily conjugated, else the tensor itself.
Tensor resolve_conj(const Tensor& input);
std::vector<OpDef> complex_view_ops();

/// conj() as formulas of gradients need it: recorded where they are.
Tensor conjugated(const Tensor& tensor);

}  // namespace ohm::ops
