// ohm.autograd.graph, and the methods by which a script registers hooks.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

/// Methods of modules: register_forward_hook, register_full_backward_hook, and before each pass.
std::span<const luaL_Reg> module_hook_methods();
/// Methods of tensors: register_hook, register_post_accumulate_grad_hook, retain_grad.
std::span<const luaL_Reg> tensor_hook_methods();

/// Hooks of saved tensors.
std::span<const luaL_Reg> graph_functions();

}  // namespace ohm::lua
