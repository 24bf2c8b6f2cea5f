// ohm.func.grad and its like: functions that return gradients of a function.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

/// grad, grad_and_value, jacrev
std::span<const luaL_Reg> func_gradient_functions();

}  // namespace ohm::lua
