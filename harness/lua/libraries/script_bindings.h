// The bindings of every script's interpreter.
#pragma once

#include "harness/lua/vm/bindings.h"

namespace ohm::lua {

const Bindings& script_bindings();

}  // namespace ohm::lua
