// ohm.nn: constructors of modules.
#pragma once

#include <lua.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::lua {

/// nn.Sequential, nn.Parameter and the like: what is not made from a row of the registry.
std::span<const luaL_Reg> module_functions();

/// The registry's modules, and nn.Module, of which a script makes its own:
///
///   local Net = nn.Module:extend("Net")          -- class Net(nn.Module)
///   function Net:__init(width) self.fc = nn.Linear(width, width) end
///   function Net:forward(x) return self.fc(x) end
///   local net = Net(64)
///
///   local net = nn.Module {fc = nn.Linear(64, 64), forward = function(self, x) … end}
///
/// The fields of such a table are registered in the order of their names.
bool push_module_constructor(lua_State* L, std::string_view name);
std::vector<std::string> module_constructor_names();

}  // namespace ohm::lua
