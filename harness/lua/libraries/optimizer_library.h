// ohm.optim and ohm.amp: what takes the steps of a training loop.
#pragma once

#include <lua.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::lua {

/// ohm.optim.SGD(parameters, {lr = 0.1}): from the rows of the registry. An optimizer has step(),
/// zero_grad() and the field `lr`.
bool push_optimizer_constructor(lua_State* L, std::string_view name);
std::vector<std::string> optimizer_names();

/// ohm.amp.GradScaler.
std::span<const luaL_Reg> amp_functions();

}  // namespace ohm::lua
