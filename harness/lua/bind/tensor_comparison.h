// Comparisons of whole tensors, which give a boolean: functions of `ohm` and methods of tensors.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> tensor_comparisons();

}  // namespace ohm::lua
