// ohm.utils.checkpoint: activation checkpointing.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> checkpoint_functions();

}  // namespace ohm::lua
