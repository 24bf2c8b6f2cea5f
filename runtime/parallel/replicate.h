// Copies of a module on several GPUs, whose gradients come back to the original.
#pragma once

#include <vector>

#include "runtime/nn/module.h"

namespace ohm::parallel {

/// One replica for each device; devices[0] must be where the module's parameters are, and its
/// replica shares their memory. On every other GPU the parameters are views into one block for
/// each chunk of 10 MiB. In the graph (where it is recorded) all replicas' parameters are results
/// of one broadcast, whose backward step reduces the gradients of all replicas onto devices[0].
std::vector<nn::ModulePtr> replicate(const nn::ModulePtr& module,
                                     const std::vector<Device>& devices);

}  // namespace ohm::parallel
