// CUDA graphs and memory pools of `ohm.cuda`.
#pragma once

#include <lua.hpp>
#include <span>

namespace ohm::lua {

std::span<const luaL_Reg> cuda_graph_functions();

}  // namespace ohm::lua
