// Tensors that end where Python's would: an expression lets go of its operands once it has the
// result, the left one first, and a function of its locals when it returns.
#pragma once

#include "runtime/tensor/locals_of_call.h"
#include "runtime/tensor/tensor.h"

namespace ohm::distributions {

/// op(a, b) of two temporaries.
template <class Op>
Tensor of_temporaries(Op&& op, Tensor a, Tensor b) {
  Tensor result = op(a, b);
  a = Tensor();
  b = Tensor();
  return result;
}

/// What a function of Python's gives that another one calls.
template <class F>
Tensor of_inner_call(F&& call) {
  const LocalsOfCall locals;
  return call();
}

}  // namespace ohm::distributions
