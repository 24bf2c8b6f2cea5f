// Collectives of ranks, as torch.distributed has them.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

/// Of ohm.distributed: all_reduce(tensor, {op, group, async_op}), broadcast, reduce, all_gather,
/// gather, scatter, reduce_scatter, all_to_all, those of one tensor in pieces, barrier. With
/// async_op they return a handle, `work:wait()`.
std::span<const luaL_Reg> collective_functions();

}  // namespace ohm::lua
