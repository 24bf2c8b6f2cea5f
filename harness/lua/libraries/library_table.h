// The table of a library in a script. What a script does not use costs it nothing: a name gets into
// the table when it is first looked up, because the whole heap of the script is walked at every
// call of a native. An unknown name is an error that suggests another.
#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/lua/libraries/library.h"

namespace ohm::lua {

/// Pushes the table of the library of this name. Pre-condition: there is one.
void push_library(lua_State* L, std::string_view name);

/// Everything that can be looked up in a library, in byte order.
std::vector<std::string> names_of(const Library& library);

}  // namespace ohm::lua
