// Functions of the script that the runtime calls on its way: hooks of gradients and saved tensors.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

/// A method of tensors.
int register_post_accumulate_grad_hook(lua_State* L);

/// ohm.autograd.graph
std::span<const luaL_Reg> graph_functions();

}  // namespace ohm::lua
