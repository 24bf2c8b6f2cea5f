// Arguments of ops, modules and optimizers: of what the runtime describes by a list of parameters.
#pragma once

#include <lua.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "runtime/ops/signature.h"
#include "runtime/tensor/tensor.h"

namespace ohm::lua {

/// The whole number at `index` as a tensor without dimensions, where a double does not hold it and
/// all tensors among the running native's arguments are of int64, or masks: numbers travel as
/// doubles, and such tensors take part in an op as numbers do. Nullopt for all else.
std::optional<Tensor> whole_operand(lua_State* L, int index);

/// What a parameter of this kind accepts. Throws std::invalid_argument.
ops::Value value_argument(lua_State* L, int index, ops::ParamKind kind, const ArgumentName& name);

/// One value for each of `params`, from the arguments of the running native: positional ones in
/// their order, then a table with names. A list of sizes that is the last parameter may be spread:
/// `x:view(2, 3)`. Throws std::invalid_argument naming `function` and the argument.
std::vector<ops::Value> read_parameters(lua_State* L, std::string_view function,
                                        std::span<const ops::Param> params);

}  // namespace ohm::lua
