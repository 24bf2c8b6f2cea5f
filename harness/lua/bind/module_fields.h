// Fields of modules: children, parameters, buffers and the attributes that a script sets.
#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/nn/module.h"

namespace ohm::lua {

/// Pushes the field of this name and returns true; or pushes nothing.
bool push_module_field(lua_State* L, nn::Module& module, std::string_view name);

/// Sets a field of a module to the value at `index`, as `module.name = value` does: modules and
/// parameters are registered or replaced, all else is an attribute.
void set_module_field(lua_State* L, nn::Module& module, std::string_view name, int index);

std::vector<std::string> module_field_names(nn::Module& module);

}  // namespace ohm::lua
