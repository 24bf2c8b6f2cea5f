// Temporaries of the statement that assigns to a field.
#pragma once

#include <lua.hpp>

namespace ohm::lua {

/// To be called by the native of `x.field = a * b + c` before it lets go what the field held: the
/// temporaries on the right go first, as in Python.
void drop_temporaries(lua_State* L);

}  // namespace ohm::lua
