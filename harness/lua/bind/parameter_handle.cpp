#include "harness/lua/bind/parameter_handle.h"

#include "harness/lua/bind/tensor_handle.h"

namespace ohm::lua {

// The mark is a user value of the handle: the tensor itself is like any other.
void push_parameter(lua_State* L, const Tensor& tensor) {
  if (!tensor.defined()) return lua_pushnil(L);
  push_handle(L, tensor, 1);
  lua_pushboolean(L, 1);
  lua_setiuservalue(L, -2, 1);
}

bool is_parameter(lua_State* L, int index) {
  if (handle_class(L, index) != &HandleOf<Tensor>::kClass) return false;
  lua_getiuservalue(L, index, 1);
  const bool is_marked = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return is_marked;
}

}  // namespace ohm::lua
