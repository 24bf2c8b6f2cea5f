// ohm.nn.init: what parameters start from.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> init_functions();

}  // namespace ohm::lua
