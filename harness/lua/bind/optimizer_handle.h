// Handles of optimizers.
#pragma once

#include <lua.hpp>
#include <span>

#include "harness/lua/bind/handle.h"
#include "runtime/optim/optimizer.h"

namespace ohm::lua {

template <>
struct HandleOf<optim::OptimizerPtr> {
  static const HandleClass kClass;
};

std::span<const luaL_Reg> optimizer_methods();

}  // namespace ohm::lua
