// Methods of tensors that are no ops.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> tensor_methods();

/// tostring(x): the values of a small tensor, and what kind of tensor it is.
int tensor_text(lua_State* L);

}  // namespace ohm::lua
