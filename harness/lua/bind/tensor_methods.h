// Methods of tensors that are not ops. Factories, streams and hooks add theirs in
// libraries/script_bindings.cpp.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> tensor_methods();
/// Those that are functions of `ohm`, too: ohm.numel(x).
std::span<const luaL_Reg> tensor_functions();

}  // namespace ohm::lua
