// The modules by name: one row for each. A script constructs them through these rows.
#pragma once

#include <vector>

#include "runtime/nn/module_def.h"

namespace ohm::nn {

/// All modules but Sequential, which is made from modules.
const std::vector<ModuleDef>& all_modules();

}  // namespace ohm::nn
