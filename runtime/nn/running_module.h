// The calls of modules that are going on.
#pragma once

#include <string>

#include "runtime/nn/module.h"

namespace ohm::nn {

/// From the outermost module, which has its type's name, by the names of children: "Net.layers.1".
/// Empty outside of modules. A module that is not a child of its caller has its type's name, too.
std::string running_module_path(const RunningModule* innermost);

}  // namespace ohm::nn
