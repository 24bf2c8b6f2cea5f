// fully_shard, and what a program may ask of a module that it was called on.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

/// Of ohm.distributed: fully_shard(module, {mp_policy, reshard_after_forward}).
std::span<const luaL_Reg> fully_shard_functions();

/// Methods of modules: unshard, reshard, reset_iter_state, set_requires_gradient_sync,
/// set_reshard_after_backward.
std::span<const luaL_Reg> fully_sharded_methods();

}  // namespace ohm::lua
