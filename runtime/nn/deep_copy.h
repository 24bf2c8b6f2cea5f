// Copies of modules.
#pragma once

#include "runtime/nn/module.h"

namespace ohm::nn {

/// The same module with tensors and children of its own, of equal values. A tensor that stands in
/// several places does so in the copy too.
ModulePtr deep_copy(const Module& module);

}  // namespace ohm::nn
