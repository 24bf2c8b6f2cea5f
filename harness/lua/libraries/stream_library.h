// Streams and events of `ohm.cuda`.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> stream_functions();

/// x:record_stream(stream)
int record_stream(lua_State* L);

}  // namespace ohm::lua
