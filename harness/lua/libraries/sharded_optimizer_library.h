// ohm.distributed.optim: optimizers whose state is spread over the ranks.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> sharded_optimizer_functions();

}  // namespace ohm::lua
