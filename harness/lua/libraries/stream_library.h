// Streams and events of `ohm.cuda`.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> stream_functions();

/// Methods of tensors: record_stream.
std::span<const luaL_Reg> tensor_stream_methods();

}  // namespace ohm::lua
