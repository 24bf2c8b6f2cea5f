// The modules by name: one row for each. A script constructs them through these rows.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/nn/module.h"
#include "runtime/ops/signature.h"

namespace ohm::nn {

struct ModuleDef {
  std::string_view name;  ///< PyTorch's class name
  std::vector<ops::Param> params;
  std::function<ModulePtr(std::span<const Value>)> make;
};

/// All modules but Sequential, which is made from modules.
const std::vector<ModuleDef>& all_modules();

}  // namespace ohm::nn
