#include "harness/lua/bind/op_arguments.h"

#include <fmt/format.h>

#include <stdexcept>

#include "harness/lua/bind/handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/whole_scalars.h"
#include "runtime/base/dtype.h"

namespace ohm::lua {
namespace {

using ops::Param;
using ops::ParamKind;
using ops::Value;

// Calls read(i) with each element of the list at `index` on top of the stack.
template <class F>
void for_each_element(lua_State* L, int index, const ArgumentName& name, F&& read) {
  const int list = lua_absindex(L, index);
  const lua_Integer count = list_length(L, list, name);
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, list, i);
    read(i);
    lua_pop(L, 1);
  }
}

std::vector<Tensor> tensors_argument(lua_State* L, int index, const ArgumentName& name) {
  if (lua_type(L, index) != LUA_TTABLE) refuse_argument(L, index, name, "a list of tensors");
  std::vector<Tensor> tensors;
  for_each_element(L, index, name, [&](lua_Integer i) {
    const std::string element = fmt::format("{}[{}]", name.argument, i);
    tensors.push_back(tensor_argument(L, -1, {name.function, element}));
  });
  return tensors;
}

std::vector<double> numbers_argument(lua_State* L, int index, const ArgumentName& name) {
  if (lua_type(L, index) == LUA_TNUMBER) return {number_argument(L, index, name)};
  if (lua_type(L, index) != LUA_TTABLE) refuse_argument(L, index, name, "a list of numbers");
  std::vector<double> numbers;
  for_each_element(L, index, name, [&](lua_Integer i) {
    const std::string element = fmt::format("{}[{}]", name.argument, i);
    numbers.push_back(number_argument(L, -1, {name.function, element}));
  });
  return numbers;
}

class Reader {
 public:
  Reader(lua_State* L, std::string_view function, std::span<const Param> params)
      : state_(L), named_(L, function), params_(params), values_(params.size()) {}

  std::vector<Value> read() {
    read_positional();
    read_named();
    for (std::size_t i = 0; i < params_.size(); ++i) fill_in(i);
    return std::move(values_);
  }

 private:
  ArgumentName name_of(std::size_t i) const { return {named_.function(), params_[i].name}; }
  bool is_given(std::size_t i) const { return !std::holds_alternative<std::monostate>(values_[i]); }

  void read_positional() {
    std::size_t param = 0;
    for (int index = 1; index <= named_.positional_count(); ++param) {
      if (param == params_.size()) refuse_count();
      if (is_spread(param, index)) {
        values_[param] = spread_sizes(param, index);
        continue;
      }
      if (is_tensor_spread(param, index)) {
        values_[param] = spread_tensors(param, index);
        continue;
      }
      if (!lua_isnil(state_, index) || !params_[param].is_optional) {
        values_[param] = value_argument(state_, index, params_[param].kind, name_of(param));
      }
      ++index;
    }
  }

  // Several integers in a row are one list of sizes where nothing else can follow.
  bool is_spread(std::size_t param, int index) const {
    return param + 1 == params_.size() && params_[param].kind == ParamKind::size_list &&
           lua_type(state_, index) == LUA_TNUMBER;
  }
  Shape spread_sizes(std::size_t param, int& index) const {
    Shape sizes;
    for (; index <= named_.positional_count() && lua_type(state_, index) == LUA_TNUMBER; ++index) {
      sizes.push_back(integer_argument(state_, index, name_of(param)));
    }
    return sizes;
  }

  // The same with tensors in a row: `einsum("ij,jk->ik", x, y)`.
  bool is_tensor_spread(std::size_t param, int index) const {
    return param > 0 && param + 1 == params_.size() &&
           params_[param].kind == ParamKind::tensor_list &&
           lua_type(state_, index) == LUA_TUSERDATA;
  }
  std::vector<Tensor> spread_tensors(std::size_t param, int& index) const {
    std::vector<Tensor> tensors;
    for (; index <= named_.positional_count(); ++index) {
      tensors.push_back(tensor_argument(state_, index, name_of(param)));
    }
    return tensors;
  }

  void read_named() {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < params_.size(); ++i) {
      names.push_back(params_[i].name);
      if (!named_.push(params_[i].name)) continue;
      if (is_given(i)) {
        throw std::invalid_argument(
            fmt::format("[{}] argument '{}' is given twice", named_.function(), params_[i].name));
      }
      values_[i] = value_argument(state_, -1, params_[i].kind, name_of(i));
      lua_pop(state_, 1);
    }
    named_.check_names(names);
  }

  void fill_in(std::size_t i) {
    if (is_given(i)) return;
    if (!params_[i].is_optional) {
      lua_pushnil(state_);
      value_argument(state_, -1, params_[i].kind, name_of(i));
    }
    values_[i] = params_[i].fallback;
  }

  [[noreturn]] void refuse_count() const {
    throw std::invalid_argument(
        fmt::format("[{}] takes at most {} argument{}, got {}", named_.function(), params_.size(),
                    params_.size() == 1 ? "" : "s", named_.positional_count()));
  }

  lua_State* state_;
  NamedArguments named_;
  std::span<const Param> params_;
  std::vector<Value> values_;
};

// Whether an op of these arguments computes in int64.
bool are_arguments_long(lua_State* L) {
  for (int i = 1; i <= lua_gettop(L); ++i) {
    const Tensor* const tensor = test_handle<Tensor>(L, i);
    if (tensor == nullptr) continue;
    if (tensor->dtype() != DType::int64 && tensor->dtype() != DType::boolean) return false;
  }
  return true;
}

// Python's True is the number 1.
double number_of_boolean(lua_State* L, int index) {
  return lua_toboolean(L, index) != 0 ? 1.0 : 0.0;
}

// x:norm("fro"): of the elements, of which PyTorch asks vector_norm for the norm of order 2.
bool is_frobenius(lua_State* L, int index, const ArgumentName& name) {
  return lua_type(L, index) == LUA_TSTRING && name.function == "norm" && name.argument == "p" &&
         std::string_view(lua_tostring(L, index)) == "fro";
}

bool is_operand(std::string_view parameter) { return parameter == "input" || parameter == "other"; }

}  // namespace

std::optional<Tensor> whole_operand(lua_State* L, int index) {
  if (lua_isinteger(L, index) == 0) return std::nullopt;
  const std::int64_t whole = lua_tointeger(L, index);
  if (is_held_by_a_double(whole) || !are_arguments_long(L)) return std::nullopt;
  const Tensor tensor = empty({}, {DType::int64, Device::cpu()});
  if (tensor.has_values()) *tensor.data<std::int64_t>() = whole;
  return tensor;
}

Value value_argument(lua_State* L, int index, ParamKind kind, const ArgumentName& name) {
  const bool is_number = kind == ParamKind::number || kind == ParamKind::tensor_or_number;
  if (is_number && lua_isinteger(L, index) != 0) WholeScalars::note(lua_tointeger(L, index));
  switch (kind) {
    case ParamKind::tensor:
      return tensor_argument(L, index, name);
    case ParamKind::tensor_or_number:
      if (is_operand(name.argument)) {
        if (const std::optional<Tensor> whole = whole_operand(L, index)) return *whole;
      }
      if (lua_isinteger(L, index) != 0) return std::int64_t{lua_tointeger(L, index)};
      if (lua_type(L, index) == LUA_TNUMBER) return lua_tonumber(L, index);
      if (lua_isboolean(L, index)) return number_of_boolean(L, index);
      if (handle_class(L, index) == nullptr)
        refuse_argument(L, index, name, "a tensor or a number");
      return tensor_argument(L, index, name);
    case ParamKind::tensor_list:
      return tensors_argument(L, index, name);
    case ParamKind::number:
      if (lua_isboolean(L, index)) return number_of_boolean(L, index);
      if (is_frobenius(L, index, name)) return 2.0;
      return number_argument(L, index, name);
    case ParamKind::integer:
      return integer_argument(L, index, name);
    case ParamKind::boolean:
      return boolean_argument(L, index, name);
    case ParamKind::size_list:
      return sizes_argument(L, index, name);
    case ParamKind::sizes_or_word:
      if (lua_type(L, index) == LUA_TSTRING) return std::string(string_argument(L, index, name));
      return sizes_argument(L, index, name);
    case ParamKind::number_list:
      return numbers_argument(L, index, name);
    case ParamKind::string:
      return std::string(string_argument(L, index, name));
    case ParamKind::dtype:
      return dtype_argument(L, index, name);
    case ParamKind::device:
      return device_argument(L, index, name);
  }
  return {};
}

std::vector<Value> read_parameters(lua_State* L, std::string_view function,
                                   std::span<const Param> params) {
  return Reader(L, function, params).read();
}

}  // namespace ohm::lua
