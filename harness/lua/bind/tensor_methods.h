// Methods of tensors that are not ops. Factories, streams and hooks add theirs in
// libraries/script_bindings.cpp.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> tensor_methods();

}  // namespace ohm::lua
