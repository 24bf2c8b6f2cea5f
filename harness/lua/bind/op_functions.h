// The ops of the runtime as functions of the script, made from the runtime's registry.
#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/ops/op.h"

namespace ohm::lua {

/// The op that has this name where it is exposed so, or elsewhere; nullptr where there is none.
const ops::OpDef* op_named(std::string_view name, ops::Exposure exposure);

/// The function that calls the op of this name, when it is exposed so; nullptr otherwise.
lua_CFunction op_function(std::string_view name, ops::Exposure exposure);

/// Pushes that function; false where there is none. One that PyTorch has in Python is marked: an
/// out-of-memory error that leaves it keeps its arguments.
bool push_op_function(lua_State* L, std::string_view name, ops::Exposure exposure);

/// Whether the value at `index` is so marked.
bool is_python_function(lua_State* L, int index);

/// The name of the op that a function calls; empty for any other function.
std::string_view op_name_of(lua_CFunction function);

/// The names of all ops that are exposed so.
std::vector<std::string> op_names(ops::Exposure exposure);

}  // namespace ohm::lua
