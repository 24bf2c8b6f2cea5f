// Collation of items into batches, as torch.utils.data.default_collate does it.
#pragma once

#include <lua.hpp>

#include "runtime/tensor/tensor.h"

namespace ohm::lua {

/// Pushes one value made of the `count` values of the list at `list`, which are of one kind:
/// tensors are stacked, numbers and booleans become a tensor, strings stay a list, tables are
/// collated field by field. Throws std::invalid_argument for anything else.
void push_collated(lua_State* L, int list, lua_Integer count);

/// Replaces every tensor of the value at `index`, tables included, by what `replace` returns.
/// Returns for a handle or a table: a new one is pushed; anything else is pushed as it is.
void push_with_tensors_replaced(lua_State* L, int index, Tensor (*replace)(const Tensor& tensor));

}  // namespace ohm::lua
