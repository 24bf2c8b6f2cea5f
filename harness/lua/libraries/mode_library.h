// no_grad, enable_grad, inference_mode, autocast.
#pragma once

#include <lua.hpp>
#include <memory>
#include <span>

#include "harness/lua/bind/arguments.h"

namespace ohm::lua {

/// For natives that switch something on while `guard` lives: calls the function at `index` with the
/// arguments behind it, or returns a guard of the script's when there is none.
int enter_mode(lua_State* L, int index, const ArgumentName& name,
               std::shared_ptr<const void> guard);

/// Each is called with a function, whose results it returns, or without one: then it returns a
/// guard for `local _ <close> = ohm.no_grad()`.
std::span<const luaL_Reg> mode_functions();

}  // namespace ohm::lua
