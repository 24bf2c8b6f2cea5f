#include "harness/lua/libraries/linear_algebra_library.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/ops/matrix_norm.h"
#include "runtime/ops/norm.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {
namespace {

using ops::Param;
using ops::ParamKind;
using ops::Value;

constexpr int kOrder = 2;  // its place among the arguments

// An order is a word or a number.
ParamKind kind_of_order(lua_State* L, std::string_view function) {
  const NamedArguments named(L, function);
  if (named.positional_count() >= kOrder) {
    return lua_type(L, kOrder) == LUA_TSTRING ? ParamKind::string : ParamKind::number;
  }
  if (!named.push("ord")) return ParamKind::number;
  const bool is_word = lua_type(L, -1) == LUA_TSTRING;
  lua_pop(L, 1);
  return is_word ? ParamKind::string : ParamKind::number;
}

/// The arguments of a norm: f(input, ord, dim, keepdim, dtype).
class NormArguments {
 public:
  NormArguments(lua_State* L, std::string_view function, const Value& order, const Value& dim)
      : running_(function),
        values_(read_parameters(L, function,
                                std::array{Param{"A", ParamKind::tensor, false, Value()},
                                           Param{"ord", kind_of_order(L, function), true, order},
                                           Param{"dim", ParamKind::size_list, true, dim},
                                           Param{"keepdim", ParamKind::boolean, true, Value(false)},
                                           Param{"dtype", ParamKind::dtype, true, Value()}})) {}

  const Tensor& input() const { return std::get<Tensor>(values_[0]); }
  std::optional<ops::NormOrder> order() const {
    if (const double* number = std::get_if<double>(&values_[1])) return *number;
    if (const std::string* word = std::get_if<std::string>(&values_[1])) return *word;
    return std::nullopt;
  }
  std::optional<Shape> dim() const {
    if (const Shape* dims = std::get_if<Shape>(&values_[2])) return *dims;
    return std::nullopt;
  }
  bool keepdim() const { return std::get<bool>(values_[3]); }
  std::optional<DType> dtype() const {
    if (const DType* dtype = std::get_if<DType>(&values_[4])) return *dtype;
    return std::nullopt;
  }

 private:
  const OpGuard running_;
  std::vector<Value> values_;
};

int push_norm(lua_State* L, const Tensor& norm) {
  push_tensor(L, norm);
  return 1;
}

int norm(lua_State* L) {
  const NormArguments call(L, "norm", Value(), Value());
  return push_norm(L, ops::vector_or_matrix_norm(call.input(), call.order(), call.dim(),
                                                 call.keepdim(), call.dtype()));
}

int vector_norm(lua_State* L) {
  const NormArguments call(L, "vector_norm", Value(2.0), Value());
  const std::optional<ops::NormOrder> order = call.order();
  const double* const number = std::get_if<double>(&*order);
  if (number == nullptr) refuse_argument(L, kOrder, {"vector_norm", "ord"}, "a number");
  return push_norm(L, ops::norm(call.input(), *number, call.dim(), call.keepdim(), call.dtype()));
}

int matrix_norm(lua_State* L) {
  const NormArguments call(L, "matrix_norm", Value(std::string("fro")), Value(Shape{-2, -1}));
  return push_norm(
      L, ops::matrix_norm(call.input(), *call.order(), *call.dim(), call.keepdim(), call.dtype()));
}

constexpr luaL_Reg kLinearAlgebraFunctions[] = {
    {"matrix_norm", native<matrix_norm>},
    {"norm", native<norm>},
    {"vector_norm", native<vector_norm>},
};

}  // namespace

std::span<const luaL_Reg> linear_algebra_functions() { return kLinearAlgebraFunctions; }

}  // namespace ohm::lua
