// ohm.func: modules as functions of their parameters.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

/// functional_call, stack_module_state
std::span<const luaL_Reg> func_functions();

}  // namespace ohm::lua
