// Methods of a class of handles, looked up by name.
#pragma once

#include <lua.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/lua/vm/bindings.h"

namespace ohm::lua {

/// The methods that the interpreter's bindings have for the class, in byte order of their names.
std::span<const luaL_Reg> methods_of(lua_State* L, const HandleClass& kind);

/// nullptr when there is none of this name. The methods are in byte order of their names.
lua_CFunction find_method(std::span<const luaL_Reg> methods, std::string_view name);

/// The __index of a handle that has methods and nothing else: pushes the method that it is asked
/// for. `others` are the names of what it has besides, for the message about a name that it does
/// not have.
int push_method(lua_State* L, std::span<const luaL_Reg> methods, std::string_view kind,
                std::vector<std::string> others = {});

}  // namespace ohm::lua
