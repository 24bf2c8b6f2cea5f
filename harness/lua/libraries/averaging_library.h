// ohm.optim.swa_utils: models whose weights are averages of another's.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> averaging_functions();

}  // namespace ohm::lua
