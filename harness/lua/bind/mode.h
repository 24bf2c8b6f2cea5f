// Modes: what a script switches on for the time of a call, or while a guard lives.
#pragma once

#include <lua.hpp>
#include <memory>

#include "harness/lua/bind/arguments.h"

namespace ohm::lua {

/// For natives that switch something on while `guard` lives: calls the function at `index` with the
/// arguments behind it, or returns a guard of the script's when there is none.
int enter_mode(lua_State* L, int index, const ArgumentName& name,
               std::shared_ptr<const void> guard);

}  // namespace ohm::lua
