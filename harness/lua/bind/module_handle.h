// Handles of modules, and the values that modules are called with. What a script can do with a
// module is in module_metatable.h.
#pragma once

#include <lua.hpp>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/handle.h"
#include "runtime/nn/module.h"

namespace ohm::lua {

template <>
struct HandleOf<nn::ModulePtr> {
  static const HandleClass kClass;
};

void push_module(lua_State* L, nn::ModulePtr module);

/// The modules that the script has handles of, each once, in no order. After a collection.
std::vector<nn::ModulePtr> modules_with_handles(lua_State* L);

/// Throws std::invalid_argument when there is something else.
const nn::ModulePtr& module_argument(lua_State* L, int index, const ArgumentName& name);

/// The modules that stand from argument 1 on: `f(a, b)` or `f({a, b})`.
std::vector<nn::ModulePtr> modules_arguments(lua_State* L, const ArgumentName& name);

/// Any value that can be passed to a module. Throws std::invalid_argument for one that cannot.
nn::Value call_argument(lua_State* L, int index, const ArgumentName& name);

/// Pushes such a value; a list of tensors as a table.
void push_call_argument(lua_State* L, const nn::Value& value);

}  // namespace ohm::lua
