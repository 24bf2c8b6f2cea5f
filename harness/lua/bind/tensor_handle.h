// Handles of tensors. What a script can do with one is in tensor_metatable.h.
#pragma once

#include <lua.hpp>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/handle.h"
#include "runtime/ops/value.h"
#include "runtime/tensor/tensor.h"

namespace ohm::lua {

template <>
struct HandleOf<Tensor> {
  static const HandleClass kClass;
};

/// Pushes a handle on `tensor`, nil when it is undefined.
void push_tensor(lua_State* L, const Tensor& tensor);

/// Pushes a list of integers.
void push_sizes(lua_State* L, const Shape& sizes);

/// Pushes what an op returned: lists of tensors as several values. Returns how many it pushed.
int push_value(lua_State* L, const ops::Value& value);

/// The same for a native's result: a tensor that is among its first `arguments` arguments (in-place
/// ops return theirs) is pushed as the handle that it came in.
int push_result(lua_State* L, const ops::Value& value, int arguments);

/// Throws std::invalid_argument when there is something else, or a tensor that was closed.
const Tensor& tensor_argument(lua_State* L, int index, const ArgumentName& name);

}  // namespace ohm::lua
