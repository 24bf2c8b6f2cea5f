// Modes of `ohm`: no_grad, enable_grad, inference_mode, autocast.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

/// Each is called with a function, whose results it returns, or without one: then it returns a
/// guard for `local _ <close> = ohm.no_grad()`.
std::span<const luaL_Reg> mode_functions();
/// autocast, for ohm.amp and ohm.cuda.amp.
std::span<const luaL_Reg> autocast_functions();

}  // namespace ohm::lua
