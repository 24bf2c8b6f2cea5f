// The metatable of tensors: their properties, the look-up of methods and ops, and the operators.
#pragma once

#include <lua.hpp>
#include <span>
#include <string_view>

#include "runtime/tensor/tensor.h"

namespace ohm::lua {

/// A field of a tensor: `x.shape`, `x.requires_grad = true`.
struct TensorProperty {
  std::string_view name;
  std::string_view type;  ///< in the words of the Lua language server: "integer[]"
  void (*push)(lua_State* L, const Tensor& tensor);
  /// Sets it to the value at `index`; null where it cannot be set.
  void (*set)(lua_State* L, const Tensor& tensor, int index) = nullptr;
};

/// All there are: scripts and editors know tensors by this list.
std::span<const TensorProperty> tensor_properties();

std::span<const luaL_Reg> tensor_metamethods();

}  // namespace ohm::lua
