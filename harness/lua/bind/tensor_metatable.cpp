#include "harness/lua/bind/tensor_metatable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "allocator_shim/base/nearest_name.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/op_functions.h"
#include "harness/lua/bind/temporaries.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/push_text.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/whole_scalars.h"
#include "runtime/autograd/gradient_hooks.h"
#include "runtime/autograd/tensor_data.h"
#include "runtime/autograd/variable.h"
#include "runtime/ops/indexing/index.h"
#include "runtime/ops/indexing/index_put.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/pointwise_math.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/pointwise/whole_numbers.h"
#include "runtime/ops/shape/view.h"

namespace ohm::lua {
namespace {

using ops::TensorOrNumber;

// ---- properties ---------------------------------------------------------------------------------

void push_grad_fn(lua_State* L, const Tensor& tensor) {
  if (const Node* node = tensor.grad_fn()) return push_text(L, node->name());
  lua_pushnil(L);
}

void push_data(lua_State* L, const Tensor& tensor) { push_tensor(L, data_of(tensor)); }

// x.data = y: the same tensor with other elements.
void set_elements(lua_State* L, const Tensor& tensor, int index) {
  const Tensor& data = tensor_argument(L, index, {"tensor", "data"});
  if (tensor.requires_grad() && !is_differentiable(data.dtype())) {
    throw std::invalid_argument(
        "data set to a tensor that requires gradients must be floating point or complex");
  }
  const AutogradMeta* const meta = autograd_meta(tensor);
  const bool has_other_gradient = tensor.grad().defined() && !(tensor.dtype() == data.dtype() &&
                                                               tensor.device() == data.device());
  if (!(tensor.shape() == data.shape()) || has_other_gradient ||
      (meta != nullptr && meta->view_of)) {
    throw std::invalid_argument(
        fmt::format("[tensor] the data of {}{} cannot be {}", describe(tensor),
                    has_other_gradient ? " with a gradient" : "", describe(data)));
  }
  drop_temporaries(L);
  set_data(tensor, data);
}

void set_requires_grad(lua_State* L, const Tensor& tensor, int index) {
  tensor.set_requires_grad(boolean_argument(L, index, {"tensor", "requires_grad"}));
}

// A gradient is of its tensor's shape, dtype and device.
void set_gradient(lua_State* L, const Tensor& tensor, int index) {
  const Tensor grad =
      lua_isnil(L, index) ? Tensor() : tensor_argument(L, index, {"tensor", "grad"});
  if (grad.defined() && !(grad.shape() == tensor.shape() && grad.dtype() == tensor.dtype() &&
                          grad.device() == tensor.device())) {
    throw std::invalid_argument(
        fmt::format("[tensor] the gradient of {} cannot be {}", describe(tensor), describe(grad)));
  }
  if (grad.defined() && tensor.grad().defined()) drop_temporaries(L);
  tensor.set_grad(grad);
}

// The dimensions in the reverse order.
void push_transposed(lua_State* L, const Tensor& tensor) {
  Shape dims;
  for (int dim = tensor.dims(); dim-- > 0;) dims.push_back(dim);
  push_tensor(L, ops::permute(tensor, dims));
}

// Matrices, whose rows become columns.
void push_transposed_matrices(lua_State* L, const Tensor& tensor) {
  if (tensor.dims() < 2) {
    throw std::invalid_argument(fmt::format(
        "tensor.mT is only supported on matrices or batches of matrices. Got {}-D tensor.",
        tensor.dims()));
  }
  push_tensor(L, ops::transpose(tensor, -2, -1));
}

constexpr std::array<TensorProperty, 16> kProperties = {{
    {"shape", "integer[]", [](lua_State* L, const Tensor& t) { push_sizes(L, t.shape()); }},
    {"dtype", "string", [](lua_State* L, const Tensor& t) { push_text(L, name_of(t.dtype())); }},
    {"device", "string", [](lua_State* L, const Tensor& t) { push_text(L, t.device().str()); }},
    {"requires_grad", "boolean",
     [](lua_State* L, const Tensor& t) { lua_pushboolean(L, t.requires_grad()); },
     set_requires_grad},
    {"grad", "ohm.Tensor?", [](lua_State* L, const Tensor& t) { push_tensor(L, t.grad()); },
     set_gradient},
    {"grad_fn", "string?", push_grad_fn},
    {"data", "ohm.Tensor", push_data, set_elements},
    {"T", "ohm.Tensor", push_transposed},
    {"mT", "ohm.Tensor", push_transposed_matrices},
    {"is_leaf", "boolean", [](lua_State* L, const Tensor& t) { lua_pushboolean(L, t.is_leaf()); }},
    {"retains_grad", "boolean",
     [](lua_State* L, const Tensor& t) { lua_pushboolean(L, retains_gradient(t)); }},
    {"is_cuda", "boolean",
     [](lua_State* L, const Tensor& t) { lua_pushboolean(L, t.device().is_cuda()); }},
    {"ndim", "integer", [](lua_State* L, const Tensor& t) { lua_pushinteger(L, t.dims()); }},
    {"nbytes", "integer",
     [](lua_State* L, const Tensor& t) {
       lua_pushinteger(L, static_cast<lua_Integer>(t.nbytes()));
     }},
    {"itemsize", "integer",
     [](lua_State* L, const Tensor& t) {
       lua_pushinteger(L, static_cast<lua_Integer>(item_bytes(t.dtype())));
     }},
    {"has_values", "boolean",
     [](lua_State* L, const Tensor& t) { lua_pushboolean(L, t.has_values()); }},
}};

const TensorProperty* find_property(std::string_view name) {
  const auto* found =
      std::find_if(kProperties.begin(), kProperties.end(),
                   [name](const TensorProperty& known) { return known.name == name; });
  return found == kProperties.end() ? nullptr : found;
}

// ---- fields -------------------------------------------------------------------------------------

[[noreturn]] void refuse_name(std::string_view name, std::span<const luaL_Reg> methods) {
  std::vector<std::string> known = op_names(ops::kMethod);
  for (const TensorProperty& property : kProperties) known.emplace_back(property.name);
  for (const luaL_Reg& method : methods) known.emplace_back(method.name);
  throw std::invalid_argument(
      fmt::format("a tensor has no '{}'{}", name, did_you_mean(name, known)));
}

int index_tensor(lua_State* L) {
  if (lua_type(L, 2) != LUA_TSTRING) {
    throw std::invalid_argument(
        "a tensor cannot be indexed with [ ] by anything but a tensor: write x:select(dim, index)");
  }
  const std::string_view name = lua_tostring(L, 2);
  const std::span<const luaL_Reg> methods = methods_of(L, HandleOf<Tensor>::kClass);
  if (const lua_CFunction method = find_method(methods, name)) {
    lua_pushcfunction(L, method);
    return 1;
  }
  if (const TensorProperty* property = find_property(name)) {
    property->push(L, tensor_argument(L, 1, {name, "tensor"}));
    return 1;
  }
  const lua_CFunction function = op_function(name, ops::kMethod);
  if (function == nullptr) refuse_name(name, methods);
  lua_pushcfunction(L, function);
  return 1;
}

// x[mask], x[indices]
int subscript_tensor(lua_State* L) {
  const Tensor& index = tensor_argument(L, 2, {"index", "index"});
  push_tensor(L, ops::subscripted(tensor_argument(L, 1, {"index", "input"}), {index}));
  return 1;
}

// Names of fields cost the script nothing; a subscript is an op.
int index_of_tensor(lua_State* L) {
  const bool is_subscript = test_handle<Tensor>(L, 2) != nullptr;
  return is_subscript ? run_native(L, subscript_tensor, Entry::operator_call)
                      : run_native(L, index_tensor, Entry::access);
}

TensorOrNumber operand(lua_State* L, int index, const ArgumentName& argument) {
  if (lua_isinteger(L, index) != 0) return ops::Number(lua_tointeger(L, index));
  if (lua_type(L, index) == LUA_TNUMBER) return ops::Number(lua_tonumber(L, index));
  if (handle_class(L, index) != &HandleOf<Tensor>::kClass) {
    refuse_argument(L, index, argument, "a tensor or a number");
  }
  return tensor_argument(L, index, argument);
}

/// The same for an op that computes whole numbers of whole numbers.
TensorOrNumber exact_operand(lua_State* L, int index, const ArgumentName& argument) {
  if (const std::optional<Tensor> whole = whole_operand(L, index)) return *whole;
  return operand(L, index, argument);
}

// x[mask] = values, x[indices] = values
int assign_subscript(lua_State* L) {
  const std::string_view op = "index_put_";
  const WholeScalars exact;
  if (lua_isinteger(L, 3) != 0) WholeScalars::note(lua_tointeger(L, 3));
  ops::set_at(tensor_argument(L, 1, {op, "input"}), tensor_argument(L, 2, {op, "index"}),
              operand(L, 3, {op, "values"}));
  return 0;
}

int set_tensor_property(lua_State* L) {
  if (lua_type(L, 2) != LUA_TSTRING) {
    throw std::invalid_argument(
        "elements of a tensor are not assigned with [ ] by anything but a tensor: write "
        "x:select(dim, index):fill_(value)");
  }
  const std::string_view name = string_argument(L, 2, {"tensor", "name"});
  const Tensor& tensor = tensor_argument(L, 1, {name, "tensor"});
  const TensorProperty* property = find_property(name);
  if (property == nullptr || property->set == nullptr) {
    std::vector<std::string> settable;
    for (const TensorProperty& known : kProperties) {
      if (known.set != nullptr) settable.emplace_back(known.name);
    }
    throw std::invalid_argument(
        fmt::format("'{}' of a tensor cannot be set{}", name, did_you_mean(name, settable)));
  }
  property->set(L, tensor, 3);
  return 0;
}

int assign_to_tensor(lua_State* L) {
  return test_handle<Tensor>(L, 2) != nullptr ? assign_subscript(L) : set_tensor_property(L);
}

// ---- operators ----------------------------------------------------------------------------------

/// The operands of `a op b`: one of them at least is a tensor.
struct Operands {
  using Read = TensorOrNumber (*)(lua_State* L, int index, const ArgumentName& argument);

  TensorOrNumber left;
  TensorOrNumber right;

  Operands(lua_State* L, std::string_view op, Read read = &exact_operand)
      : left(read(L, 1, {op, "input"})), right(read(L, 2, {op, "other"})) {}
  const Tensor* left_tensor() const { return std::get_if<Tensor>(&left); }
  const Tensor& right_tensor() const { return std::get<Tensor>(right); }
  ops::Number left_number() const { return std::get<ops::Number>(left); }
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
  push_tensor(L, left != nullptr ? ops::sub(*left, a.right) : ops::rsub(a.right_tensor(), a.left));
  return 1;
}

int multiply(lua_State* L) {
  const Operands a(L, "mul");
  const Tensor* left = a.left_tensor();
  push_tensor(L, left != nullptr ? ops::mul(*left, a.right) : ops::mul(a.right_tensor(), a.left));
  return 1;
}

int divide(lua_State* L) {
  const Operands a(L, "div", &operand);
  const Tensor* left = a.left_tensor();
  push_tensor(L, left != nullptr ? ops::div(*left, a.right)
                                 : ops::mul(ops::reciprocal(a.right_tensor()), a.left_number()));
  return 1;
}

int floor_divide(lua_State* L) {
  const Operands a(L, "floor_divide");
  const Tensor* left = a.left_tensor();
  push_tensor(L, left != nullptr ? ops::floor_divide(*left, a.right)
                                 : ops::rfloor_divide(a.right_tensor(), a.left_number()));
  return 1;
}

int remainder(lua_State* L) {
  const Operands a(L, "remainder");
  const Tensor* left = a.left_tensor();
  push_tensor(L, left != nullptr ? ops::remainder(*left, a.right)
                                 : ops::rremainder(a.right_tensor(), a.left_number()));
  return 1;
}

int power(lua_State* L) {
  const Operands a(L, "pow", &operand);
  const Tensor* left = a.left_tensor();
  push_tensor(L, left != nullptr ? ops::power_of(*left, a.right)
                                 : ops::pow(a.left_number(), a.right_tensor()));
  return 1;
}

int negate(lua_State* L) {
  push_tensor(L, ops::neg(tensor_argument(L, 1, {"neg", "input"})));
  return 1;
}

// ~a, a & b, a | b, a ~ b (Python's a ^ b): of masks.
int complement(lua_State* L) {
  push_tensor(L, ops::bitwise_not(tensor_argument(L, 1, {"bitwise_not", "input"})));
  return 1;
}

int both(lua_State* L) {
  push_tensor(L, ops::bitwise_and(tensor_argument(L, 1, {"bitwise_and", "input"}),
                                  tensor_argument(L, 2, {"bitwise_and", "other"})));
  return 1;
}

int either(lua_State* L) {
  push_tensor(L, ops::bitwise_or(tensor_argument(L, 1, {"bitwise_or", "input"}),
                                 tensor_argument(L, 2, {"bitwise_or", "other"})));
  return 1;
}

int either_alone(lua_State* L) {
  push_tensor(L, ops::bitwise_xor(tensor_argument(L, 1, {"bitwise_xor", "input"}),
                                  tensor_argument(L, 2, {"bitwise_xor", "other"})));
  return 1;
}

// Lua makes one boolean of whatever == gives. A tensor is itself; of two, PyTorch would compare the
// elements.
int equals(lua_State* L) {
  const Tensor* a = test_handle<Tensor>(L, 1);
  const Tensor* b = test_handle<Tensor>(L, 2);
  const bool are_tensors = a != nullptr && b != nullptr;
  if (are_tensors && !a->is_same(*b)) {
    throw std::invalid_argument(
        "tensors cannot be compared with == and ~=: write a:eq(b) or a:ne(b), element by element, "
        "a:equal(b) for all elements, a:is_same(b) for whether both are one tensor");
  }
  lua_pushboolean(L, are_tensors);
  return 1;
}

int refuse_order(lua_State* /*L*/) {
  throw std::invalid_argument(
      "tensors cannot be compared with < and <=: write a:lt(b), a:le(b), … element by element");
}

int refuse_length(lua_State* /*L*/) {
  throw std::invalid_argument("a tensor has no length: write x:size(dim) or x:numel()");
}

// tostring(x): the values of a small tensor, and what kind of tensor it is.
int tensor_text(lua_State* L) {
  const Tensor& tensor = tensor_argument(L, 1, {"tostring", "input"});
  constexpr std::int64_t kMostShown = 32;
  std::string text;
  if (tensor.has_values() && tensor.numel() <= kMostShown) {
    for (const double value : to_doubles(tensor)) {
      text += text.empty() ? "" : ", ";
      text += fmt::format("{:.6g}", value);
    }
    text = "[" + text + "], ";
  }
  push_text(L, fmt::format("tensor({}{})", text, describe(tensor)));
  return 1;
}

constexpr luaL_Reg kTensorMetamethods[] = {
    {"__index", index_of_tensor},
    {"__newindex", native<assign_to_tensor, Entry::operator_call>},
    {"__add", native<add, Entry::operator_call>},
    {"__sub", native<subtract, Entry::operator_call>},
    {"__mul", native<multiply, Entry::operator_call>},
    {"__div", native<divide, Entry::operator_call>},
    {"__idiv", native<floor_divide, Entry::operator_call>},
    {"__mod", native<remainder, Entry::operator_call>},
    {"__pow", native<power, Entry::operator_call>},
    {"__unm", native<negate, Entry::operator_call>},
    {"__bnot", native<complement, Entry::operator_call>},
    {"__band", native<both, Entry::operator_call>},
    {"__bor", native<either, Entry::operator_call>},
    {"__bxor", native<either_alone, Entry::operator_call>},
    {"__eq", native<equals, Entry::access>},
    {"__lt", native<refuse_order, Entry::access>},
    {"__le", native<refuse_order, Entry::access>},
    {"__len", native<refuse_length, Entry::access>},
    {"__tostring", native<tensor_text, Entry::access>},
};

}  // namespace

std::span<const TensorProperty> tensor_properties() { return kProperties; }

std::span<const luaL_Reg> tensor_metamethods() { return kTensorMetamethods; }

}  // namespace ohm::lua
