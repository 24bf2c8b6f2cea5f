// Extrema on a CUDA device.
#pragma once

#include "runtime/arithmetic/reduce.h"
#include "runtime/tensor/tensor.h"

namespace ohm::ops {

/// What extrema are of, and where their values and their places go: either may be undefined. NaN is
/// more extreme than any number, whichever is wanted.
struct Extrema {
  const Tensor& input;
  DimMask folded;
  bool wants_largest;
  Tensor values;
  Tensor places;

  std::int64_t count() const { return (values.defined() ? values : places).numel(); }
};

/// False where they are not on a CUDA device: nothing was done.
bool are_found_on_cuda(const Extrema& extrema);

}  // namespace ohm::ops
