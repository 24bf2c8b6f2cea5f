// New tensors: the functions of `ohm`, and the methods that make a tensor like another.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

/// ohm.tensor, ohm.zeros, ohm.randn, …: sizes as numbers or as a list, then a table with dtype,
/// device and requires_grad.
std::span<const luaL_Reg> factory_functions();

// x:new_zeros(sizes…, {dtype, device, requires_grad}): of x's dtype and device where not given.
int new_empty(lua_State* L);
int new_full(lua_State* L);
int new_ones(lua_State* L);
int new_tensor(lua_State* L);
int new_zeros(lua_State* L);

}  // namespace ohm::lua
