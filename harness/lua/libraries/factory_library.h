// New tensors: the functions of `ohm`, and the methods that make a tensor like another.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

/// ohm.tensor, ohm.zeros, ohm.randn, …: sizes as numbers or as a list, then a table with dtype,
/// device and requires_grad.
std::span<const luaL_Reg> factory_functions();

/// Methods of tensors: new_zeros, new_full, …
std::span<const luaL_Reg> tensor_factory_methods();

}  // namespace ohm::lua
