// Arguments of ops, modules and optimizers: of what the runtime describes by a list of parameters.
#pragma once

#include <lua.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "runtime/ops/signature.h"

namespace ohm::lua {

/// What a parameter of this kind accepts. Throws std::invalid_argument.
ops::Value value_argument(lua_State* L, int index, ops::ParamKind kind, const ArgumentName& name);

/// One value for each of `params`, from the arguments of the running native: positional ones in
/// their order, then a table with names. A list of sizes that is the last parameter may be spread:
/// `x:view(2, 3)`. Throws std::invalid_argument naming `function` and the argument.
std::vector<ops::Value> read_parameters(lua_State* L, std::string_view function,
                                        std::span<const ops::Param> params);

}  // namespace ohm::lua
