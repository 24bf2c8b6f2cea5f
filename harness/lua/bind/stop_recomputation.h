// The error by which StopRecomputation passes through functions of the script.
#pragma once

#include <lua.hpp>

namespace ohm::lua {

void push_stop_recomputation(lua_State* L);

/// Whether the value at `index` is that error.
bool is_stop_recomputation(lua_State* L, int index);

}  // namespace ohm::lua
