// Optimizers as handles of the script.
#pragma once

#include "harness/lua/bind/handle.h"
#include "runtime/optim/optimizer.h"

namespace ohm::lua {

template <>
struct HandleOf<optim::OptimizerPtr> {
  static const HandleClass kClass;
};

}  // namespace ohm::lua
