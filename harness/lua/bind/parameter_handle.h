// Handles of parameters: tensors that a module registers when they are assigned to it.
#pragma once

#include <lua.hpp>

#include "runtime/tensor/tensor.h"

namespace ohm::lua {

/// Pushes a tensor's handle that is_parameter(); nil when the tensor is undefined.
void push_parameter(lua_State* L, const Tensor& tensor);

bool is_parameter(lua_State* L, int index);

}  // namespace ohm::lua
