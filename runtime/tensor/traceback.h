// Variables that a Python traceback keeps: PyTorch's functions in Python hold them in frames, and
// an error that leaves a frame keeps it until the error itself is dropped.
#pragma once

#include <memory>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace ohm {

/// For a handler `catch (...)` that throws again: an error of memory keeps these variables of the
/// frame that it leaves. They go after those of frames that it has left before, in this order;
/// undefined ones are left out.
void hold_variables(const std::vector<Tensor>& variables);

/// Where an OutOfMemory goes on as an error of the script's: the new error is to keep this, to
/// which hold_variables() adds from now on, until it is dropped.
std::shared_ptr<const void> variables_of_script_error();

}  // namespace ohm
