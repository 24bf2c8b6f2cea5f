// ohm.optim: constructors of optimizers.
#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::lua {

/// ohm.optim.SGD(parameters, {lr = 0.1}): from the rows of the registry. An optimizer has step(),
/// zero_grad() and the field `lr`.
bool push_optimizer_constructor(lua_State* L, std::string_view name);
std::vector<std::string> optimizer_names();

}  // namespace ohm::lua
