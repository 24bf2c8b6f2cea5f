// The optimizers by name: one row for each. A script constructs them through these rows.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/ops/signature.h"
#include "runtime/optim/optimizer.h"

namespace ohm::optim {

struct OptimizerDef {
  std::string_view name;           ///< PyTorch's class name
  std::vector<ops::Param> params;  ///< the first is the list of parameters
  std::function<OptimizerPtr(std::span<const ops::Value>)> make;
};

const std::vector<OptimizerDef>& all_optimizers();

}  // namespace ohm::optim
