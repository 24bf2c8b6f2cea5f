#include "harness/lua/tensor_handle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/arguments.h"
#include "harness/lua/native.h"
#include "harness/lua/op_library.h"
#include "harness/lua/tensor_methods.h"
#include "runtime/autograd/variable.h"
#include "runtime/ops/pointwise.h"
#include "runtime/ops/power.h"
#include "runtime/tensor/factories.h"

namespace ohm::lua {
namespace {

using ops::TensorOrNumber;

void push_text(lua_State* L, std::string_view text) {
  lua_pushlstring(L, text.data(), text.size());
}

// ---- properties ---------------------------------------------------------------------------------

struct Property {
  std::string_view name;
  void (*push)(lua_State* L, const Tensor& tensor);
};

void push_grad_fn(lua_State* L, const Tensor& tensor) {
  if (const Node* node = tensor.grad_fn()) return push_text(L, node->name());
  lua_pushnil(L);
}

// A view on the same bytes that is no part of the graph.
void push_data(lua_State* L, const Tensor& tensor) { push_tensor(L, detach(tensor)); }

constexpr std::array<Property, 13> kProperties = {{
    {"shape", [](lua_State* L, const Tensor& t) { push_sizes(L, t.shape()); }},
    {"dtype", [](lua_State* L, const Tensor& t) { push_text(L, name_of(t.dtype())); }},
    {"device", [](lua_State* L, const Tensor& t) { push_text(L, t.device().str()); }},
    {"requires_grad", [](lua_State* L, const Tensor& t) { lua_pushboolean(L, t.requires_grad()); }},
    {"grad", [](lua_State* L, const Tensor& t) { push_tensor(L, t.grad()); }},
    {"grad_fn", push_grad_fn},
    {"data", push_data},
    {"is_leaf", [](lua_State* L, const Tensor& t) { lua_pushboolean(L, t.is_leaf()); }},
    {"is_cuda", [](lua_State* L, const Tensor& t) { lua_pushboolean(L, t.device().is_cuda()); }},
    {"ndim", [](lua_State* L, const Tensor& t) { lua_pushinteger(L, t.dims()); }},
    {"nbytes", [](lua_State* L,
                  const Tensor& t) { lua_pushinteger(L, static_cast<lua_Integer>(t.nbytes())); }},
    {"itemsize",
     [](lua_State* L, const Tensor& t) {
       lua_pushinteger(L, static_cast<lua_Integer>(item_bytes(t.dtype())));
     }},
    {"has_values", [](lua_State* L, const Tensor& t) { lua_pushboolean(L, t.has_values()); }},
}};

[[noreturn]] void refuse_name(std::string_view name) {
  std::vector<std::string> known = op_names(ops::kMethod);
  for (const Property& property : kProperties) known.emplace_back(property.name);
  for (const luaL_Reg& method : tensor_methods()) known.emplace_back(method.name);
  throw std::invalid_argument(
      fmt::format("a tensor has no '{}'{}", name, did_you_mean(name, known)));
}

int index_tensor(lua_State* L) {
  if (lua_type(L, 2) != LUA_TSTRING) {
    throw std::invalid_argument("a tensor has no [ ]: write x:select(dim, index)");
  }
  const std::string_view name = lua_tostring(L, 2);
  for (const luaL_Reg& method : tensor_methods()) {
    if (name != method.name) continue;
    lua_pushcfunction(L, method.func);
    return 1;
  }
  for (const Property& property : kProperties) {
    if (name != property.name) continue;
    property.push(L, tensor_argument(L, 1, {name, "tensor"}));
    return 1;
  }
  const lua_CFunction function = op_function(name, ops::kMethod);
  if (function == nullptr) refuse_name(name);
  lua_pushcfunction(L, function);
  return 1;
}

// A gradient is of its tensor's shape, dtype and device.
void set_gradient(const Tensor& tensor, const Tensor& grad) {
  if (grad.defined() && !(grad.shape() == tensor.shape() && grad.dtype() == tensor.dtype() &&
                          grad.device() == tensor.device())) {
    throw std::invalid_argument(
        fmt::format("[tensor] the gradient of {} cannot be {}", describe(tensor), describe(grad)));
  }
  tensor.set_grad(grad);
}

int set_tensor_property(lua_State* L) {
  const std::string_view name = string_argument(L, 2, {"tensor", "name"});
  const Tensor& tensor = tensor_argument(L, 1, {name, "tensor"});
  if (name == "requires_grad") {
    tensor.set_requires_grad(boolean_argument(L, 3, {"tensor", name}));
  } else if (name == "grad") {
    set_gradient(tensor, lua_isnil(L, 3) ? Tensor() : tensor_argument(L, 3, {"tensor", name}));
  } else {
    throw std::invalid_argument(fmt::format("'{}' of a tensor cannot be set{}", name,
                                            did_you_mean(name, {"grad", "requires_grad"})));
  }
  return 0;
}

// ---- operators ----------------------------------------------------------------------------------

TensorOrNumber operand(lua_State* L, int index, std::string_view op) {
  if (lua_type(L, index) == LUA_TNUMBER) return lua_tonumber(L, index);
  if (handle_class(L, index) != &HandleOf<Tensor>::kClass) {
    refuse_argument(L, index, {op, index == 1 ? "input" : "other"}, "a tensor or a number");
  }
  return tensor_argument(L, index, {op, index == 1 ? "input" : "other"});
}

/// The operands of `a op b`: one of them at least is a tensor.
struct Operands {
  TensorOrNumber left;
  TensorOrNumber right;

  Operands(lua_State* L, std::string_view op) : left(operand(L, 1, op)), right(operand(L, 2, op)) {}
  const Tensor* left_tensor() const { return std::get_if<Tensor>(&left); }
  const Tensor& right_tensor() const { return std::get<Tensor>(right); }
  double left_number() const { return std::get<double>(left); }
};

int add(lua_State* L) {
  const Operands a(L, "add");
  const Tensor* left = a.left_tensor();
  push_tensor(L, left != nullptr ? ops::add(*left, a.right) : ops::add(a.right_tensor(), a.left));
  return 1;
}

int subtract(lua_State* L) {
  const Operands a(L, "sub");
  const Tensor* left = a.left_tensor();
  push_tensor(
      L, left != nullptr ? ops::sub(*left, a.right) : ops::rsub(a.right_tensor(), a.left_number()));
  return 1;
}

int multiply(lua_State* L) {
  const Operands a(L, "mul");
  const Tensor* left = a.left_tensor();
  push_tensor(L, left != nullptr ? ops::mul(*left, a.right) : ops::mul(a.right_tensor(), a.left));
  return 1;
}

int divide(lua_State* L) {
  const Operands a(L, "div");
  const Tensor* left = a.left_tensor();
  push_tensor(L, left != nullptr ? ops::div(*left, a.right)
                                 : ops::mul(ops::reciprocal(a.right_tensor()), a.left_number()));
  return 1;
}

int power(lua_State* L) {
  const Tensor& base = tensor_argument(L, 1, {"pow", "input"});
  if (const Tensor* exponent = test_handle<Tensor>(L, 2)) {
    push_tensor(L, ops::pow(base, *exponent));
  } else {
    push_tensor(L, ops::pow(base, number_argument(L, 2, {"pow", "exponent"})));
  }
  return 1;
}

int negate(lua_State* L) {
  push_tensor(L, ops::neg(tensor_argument(L, 1, {"neg", "input"})));
  return 1;
}

// Lua asks for == between two handles and makes a boolean of the answer: it means "the same
// tensor", as Python's `is`.
int is_same_tensor(lua_State* L) {
  const Tensor* a = test_handle<Tensor>(L, 1);
  const Tensor* b = test_handle<Tensor>(L, 2);
  lua_pushboolean(L, a != nullptr && b != nullptr && a->is_same(*b));
  return 1;
}

int refuse_order(lua_State* /*L*/) {
  throw std::invalid_argument(
      "tensors have no order: write a:lt(b), a:le(b), … element by element");
}

int refuse_length(lua_State* /*L*/) {
  throw std::invalid_argument("a tensor has no length: write x:size(dim) or x:numel()");
}

constexpr luaL_Reg kMetamethods[] = {
    {"__index", native<index_tensor, Entry::access>},
    {"__newindex", native<set_tensor_property, Entry::operator_call>},
    {"__add", native<add, Entry::operator_call>},
    {"__sub", native<subtract, Entry::operator_call>},
    {"__mul", native<multiply, Entry::operator_call>},
    {"__div", native<divide, Entry::operator_call>},
    {"__pow", native<power, Entry::operator_call>},
    {"__unm", native<negate, Entry::operator_call>},
    {"__eq", native<is_same_tensor, Entry::access>},
    {"__lt", native<refuse_order, Entry::access>},
    {"__le", native<refuse_order, Entry::access>},
    {"__len", native<refuse_length, Entry::access>},
    {"__tostring", native<tensor_text, Entry::access>},
};

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

const HandleClass HandleOf<Tensor>::kClass = {"tensor", kMetamethods};

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

}  // namespace ohm::lua
