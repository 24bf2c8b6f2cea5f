// Groups of ranks, and what one rank sends to another one, as torch.distributed has them.
#pragma once

#include <lua.hpp>
#include <span>

#include "harness/lua/libraries/library.h"

namespace ohm::lua {

/// Of ohm.distributed: new_group(ranks), get_rank(group), get_world_size(group), the ranks of a
/// group, is_initialized, destroy_process_group(group).
std::span<const luaL_Reg> process_group_functions();

/// Of ohm.distributed.group: WORLD, all ranks; nil outside of ranks.
std::span<const Property> group_properties();

/// Of ohm.distributed: send(tensor, dst), recv(tensor, src), isend, irecv, P2POp,
/// batch_isend_irecv.
std::span<const luaL_Reg> point_to_point_functions();

}  // namespace ohm::lua
