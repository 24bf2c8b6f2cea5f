// Methods of modules that find their parts by name, add some, and set some back.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> module_part_methods();

}  // namespace ohm::lua
