// Parameter groups that an optimizer gets after it was made.
#pragma once

#include <lua.hpp>

#include "runtime/optim/optimizer.h"

namespace ohm::lua {

/// optimizer:add_param_group({params = …, lr = …}): options that the group does not name are those
/// that the optimizer was made with.
int add_param_group(lua_State* L, optim::Optimizer& optimizer);

}  // namespace ohm::lua
