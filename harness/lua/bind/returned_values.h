// Values that a variant returned, copied out of the script.
#pragma once

#include <lua.hpp>

#include "harness/scenario/scenario_program.h"

namespace ohm::lua {

/// The value at `index`, by name: a table's string keys are the names, what nested tables hold is
/// called "losses[1]" or "grads.weight"; a single value is called "value", nil is nothing. Throws
/// std::invalid_argument for a value that cannot be compared, and for tables nested too deeply.
engine::ReturnedValues copy_returned_values(lua_State* L, int index);

}  // namespace ohm::lua
