// The metatable of modules: called, indexed by the names of what they hold.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> module_metamethods();

/// Whether this is the function that a script's `module(x)` calls.
bool is_calling_module(lua_CFunction function);

}  // namespace ohm::lua
