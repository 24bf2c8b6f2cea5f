#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/push_text.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace ohm::lua {
namespace {

void push_numbers(lua_State* L, const std::vector<double>& numbers) {
  lua_createtable(L, static_cast<int>(numbers.size()), 0);
  lua_Integer count = 0;
  for (const double number : numbers) {
    lua_pushnumber(L, number);
    lua_rawseti(L, -2, ++count);
  }
}

/// Pushes any alternative of a Value, and returns how many values it pushed.
struct ValuePusher {
  lua_State* state;

  int operator()(std::monostate /*none*/) const { return 0; }
  int operator()(bool value) const { return lua_pushboolean(state, value), 1; }
  int operator()(std::int64_t value) const { return lua_pushinteger(state, value), 1; }
  int operator()(double value) const { return lua_pushnumber(state, value), 1; }
  int operator()(const std::string& value) const { return push_text(state, value), 1; }
  int operator()(DType value) const { return push_text(state, name_of(value)), 1; }
  int operator()(Device value) const { return push_text(state, value.str()), 1; }
  int operator()(const Shape& value) const { return push_sizes(state, value), 1; }
  int operator()(const std::vector<double>& values) const { return push_numbers(state, values), 1; }
  int operator()(const Tensor& value) const { return push_tensor(state, value), 1; }
  int operator()(const std::vector<Tensor>& values) const {
    luaL_checkstack(state, static_cast<int>(values.size()) + LUA_MINSTACK, "too many results");
    for (const Tensor& value : values) push_tensor(state, value);
    return static_cast<int>(values.size());
  }
};

}  // namespace

const HandleClass HandleOf<Tensor>::kClass = {"tensor", {}};

void push_tensor(lua_State* L, const Tensor& tensor) {
  if (!tensor.defined()) return lua_pushnil(L);
  push_handle(L, tensor);
}

void push_sizes(lua_State* L, const Shape& sizes) {
  lua_createtable(L, sizes.dims(), 0);
  for (int i = 0; i < sizes.dims(); ++i) {
    lua_pushinteger(L, sizes[i]);
    lua_rawseti(L, -2, i + 1);
  }
}

int push_value(lua_State* L, const ops::Value& value) { return std::visit(ValuePusher{L}, value); }

int push_result(lua_State* L, const ops::Value& value, int arguments) {
  const Tensor* tensor = std::get_if<Tensor>(&value);
  for (int index = 1; tensor != nullptr && index <= arguments; ++index) {
    const Tensor* argument = test_handle<Tensor>(L, index);
    if (argument == nullptr || !argument->is_same(*tensor)) continue;
    lua_pushvalue(L, index);
    return 1;
  }
  return push_value(L, value);
}

const Tensor& tensor_argument(lua_State* L, int index, const ArgumentName& name) {
  const Tensor* tensor = test_handle<Tensor>(L, index);
  if (tensor == nullptr) refuse_argument(L, index, name, "a tensor");
  if (!tensor->defined()) {
    throw std::invalid_argument(fmt::format("[{}] argument '{}' is a tensor that was closed",
                                            name.function, name.argument));
  }
  return *tensor;
}

}  // namespace ohm::lua
