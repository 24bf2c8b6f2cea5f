// Methods of modules.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> module_methods();

}  // namespace ohm::lua
