// Handles of distributions: their parameters, figures and functions.
#pragma once

#include <lua.hpp>

#include "harness/lua/bind/handle.h"
#include "runtime/distributions/distribution.h"

namespace ohm::lua {

template <>
struct HandleOf<distributions::DistributionPtr> {
  static const HandleClass kClass;
};

}  // namespace ohm::lua
