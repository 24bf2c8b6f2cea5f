// What a list of modules says of one: its name, its options and how it is made.
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

}  // namespace ohm::nn
