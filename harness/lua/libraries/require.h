// require(): the Lua files that a scenario shares with others.
#pragma once

#include <lua.hpp>

namespace ohm::lua {

/// require("models.resnet"): runs models/resnet.lua of the scenario's folder, or of its lib/, at
/// the first call, and returns what the file returned at every call. A file elsewhere cannot be
/// reached, nor by a symbolic link. Throws std::invalid_argument.
int require_module(lua_State* L);

}  // namespace ohm::lua
