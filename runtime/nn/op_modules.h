// Modules that call one op: pooling, padding, activations, losses.
#pragma once

#include <vector>

#include "runtime/nn/module_def.h"

namespace ohm::nn {

std::vector<ModuleDef> pooling_modules();
std::vector<ModuleDef> padding_modules();
std::vector<ModuleDef> activation_modules();
std::vector<ModuleDef> loss_modules();

}  // namespace ohm::nn
