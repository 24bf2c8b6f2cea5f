// ohm.amp: the gradient scaler.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> amp_functions();

}  // namespace ohm::lua
