// What a Python traceback keeps: PyTorch's functions in Python hold their variables in frames, and
// an error that leaves a frame keeps it until the error itself is dropped.
#pragma once

#include <vector>

#include "allocator_shim/observe/out_of_memory.h"
#include "runtime/tensor/tensor.h"

namespace ohm {

/// The error keeps these variables of a frame that it leaves: they go after those of the frames
/// that it has left before, in this order. Undefined ones are left out.
void hold_variables(OutOfMemory& error, const std::vector<Tensor>& variables);

}  // namespace ohm
