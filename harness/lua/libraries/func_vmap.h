// ohm.func.vmap: a function of one sample, called for all samples at once.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

/// vmap
std::span<const luaL_Reg> vmap_functions();

}  // namespace ohm::lua
