#include "harness/lua/libraries/func_gradients.h"

#include <utility>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/bind/tensor_tree.h"
#include "harness/lua/libraries/transformed_function.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/func/gradient_call.h"
#include "runtime/func/vmap_call.h"
#include "runtime/ops/view.h"

namespace ohm::lua {
namespace {

struct GradientOptions {
  std::vector<int> argnums;  ///< from 0 on
  bool is_list;              ///< the gradients come in a list
  bool has_aux;
};

GradientOptions gradient_options(lua_State* L, const char* function, int arguments) {
  GradientOptions options{{0}, false, false};
  const int argnums = push_transform_option(L, "argnums");
  if (!lua_isnil(L, argnums)) {
    options.is_list = lua_type(L, argnums) == LUA_TTABLE;
    options.argnums.clear();
    for (const std::int64_t each : sizes_argument(L, argnums, {function, "argnums"})) {
      options.argnums.push_back(wrap_dim(each, arguments, function));
    }
  }
  options.has_aux = lua_toboolean(L, push_transform_option(L, "has_aux")) != 0;
  lua_pop(L, 2);
  return options;
}

std::vector<Tensor> outside_of(const func::GradientCall& call, const std::vector<Tensor>& results) {
  std::vector<Tensor> outside;
  for (const Tensor& each : results) outside.push_back(call.outside(each));
  return outside;
}

Shape with_front(std::int64_t size, const Shape& shape) {
  Shape whole = shape;
  whole.insert(0, size);
  return whole;
}

// Row i is one for element i alone.
Tensor standard_basis(const Tensor& like) {
  const std::int64_t count = like.numel();
  Tensor basis = zeros({count, count}, options_of(like));
  fill_values(make_view(basis, {count}, {count + 1}, basis.impl()->offset), 1.0);
  return basis;
}

// A call of a differentiated function: its arguments are on the stack, and nothing else.
class GradientOfScript {
 public:
  GradientOfScript(lua_State* L, const char* name)
      : state_(L),
        name_(name),
        arguments_(lua_gettop(L)),
        options_(gradient_options(L, name, arguments_)) {}

  // Pushes the function's results: a value, and what else it returned where it has that.
  void run() {
    luaL_checkstack(state_, arguments_ + LUA_MINSTACK, nullptr);
    push_transformed(state_);
    const int function = lua_gettop(state_);
    for (int i = 1; i <= arguments_; ++i) lua_pushvalue(state_, i);
    for (const int argument : options_.argnums) make_differentiable(function + 1 + argument);
    call_transformed(state_, arguments_, options_.has_aux ? 2 : 1);
    result_ = function;
  }

  const Tensor& output() const { return tensor_argument(state_, result_, {name_, "result"}); }

  // Pushes the gradients, in the places of what they are the gradients of.
  void push_gradients() {
    std::vector<Tensor> found = gradient_.gradients(output());
    const std::vector<Tensor> outside = outside_of(gradient_, found);
    value_ = gradient_.outside(output());
    if (options_.has_aux) push_auxiliary();
    lua_pushnil(state_);
    lua_replace(state_, result_);
    Interpreter::of(state_).collect(state_);
    found.clear();
    push_parts(outside);
  }

  // Pushes the Jacobian, in the places of what it is the Jacobian by.
  void push_jacobian() {
    const Tensor output = this->output();
    const Tensor basis = standard_basis(output);
    const Tensor rows = ops::view(basis, with_front(output.numel(), output.shape()));
    std::vector<Tensor> found;
    {
      const func::VmapCall for_each_row(output.numel());
      found = gradient_.gradients_later(output, for_each_row.sample(rows, 0));
      for (Tensor& each : found) each = gradient_.outside(for_each_row.all(each, 0));
    }
    for (Tensor& each : found) {
      Shape shape = output.shape();
      for (int dim = 1; dim < each.dims(); ++dim) shape.push_back(each.shape()[dim]);
      each = ops::view(each, shape);
    }
    if (options_.has_aux) push_auxiliary();
    push_parts(found);
  }

  const Tensor& value() const { return value_; }
  bool has_auxiliary() const { return options_.has_aux; }
  // Where what else the function returned stands.
  int auxiliary() const { return result_ + 1; }

 private:
  void make_differentiable(int index) {
    trees_.emplace_back(state_, index);
    std::vector<Tensor> own;
    for (const Tensor& each : trees_.back().tensors())
      own.push_back(gradient_.differentiable(each));
    trees_.back().push(state_, own);
    lua_replace(state_, index);
  }

  void push_auxiliary() {
    const TensorTree tree(state_, auxiliary());
    tree.push(state_, outside_of(gradient_, tree.tensors()));
    lua_replace(state_, auxiliary());
  }

  void push_parts(const std::vector<Tensor>& all) {
    if (!options_.is_list) return push_part(all, 0);
    lua_createtable(state_, static_cast<int>(trees_.size()), 0);
    for (std::size_t number = trees_.size(); number > 0; --number) {
      push_part(all, number - 1);
      lua_rawseti(state_, -2, static_cast<lua_Integer>(number));
    }
  }

  void push_part(const std::vector<Tensor>& all, std::size_t part) {
    auto begin = all.begin();
    for (std::size_t i = 0; i < part; ++i) {
      begin += static_cast<std::ptrdiff_t>(trees_[i].tensors().size());
    }
    const auto count = static_cast<std::ptrdiff_t>(trees_[part].tensors().size());
    trees_[part].push(state_, {begin, begin + count});
  }

  lua_State* state_;
  const char* name_;
  int arguments_;
  GradientOptions options_;
  func::GradientCall gradient_;
  std::vector<TensorTree> trees_;
  Tensor value_;
  int result_ = 0;
};

int call_grad(lua_State* L) {
  GradientOfScript gradient(L, "grad");
  gradient.run();
  gradient.push_gradients();
  if (!gradient.has_auxiliary()) return 1;
  lua_pushvalue(L, gradient.auxiliary());
  return 2;
}

int call_grad_and_value(lua_State* L) {
  GradientOfScript gradient(L, "grad_and_value");
  gradient.run();
  gradient.push_gradients();
  push_tensor(L, gradient.value());
  if (!gradient.has_auxiliary()) return 2;
  lua_pushvalue(L, gradient.auxiliary());
  return 3;
}

constexpr std::string_view kGradientOptions[] = {"argnums", "has_aux"};

// grad(f [, argnums, has_aux]): a function that returns the gradients of f's result, and what else
// f returned.
int grad_of_function(lua_State* L) {
  return transform_function(L, "grad", kGradientOptions, native<call_grad>);
}

// grad_and_value(f [, argnums, has_aux]): the same, and f's result.
int grad_and_value(lua_State* L) {
  return transform_function(L, "grad_and_value", kGradientOptions, native<call_grad_and_value>);
}

// The Jacobian of the function's result: [of the result, of the argument].
int call_jacrev(lua_State* L) {
  GradientOfScript gradient(L, "jacrev");
  gradient.run();
  gradient.push_jacobian();
  if (!gradient.has_auxiliary()) return 1;
  lua_pushvalue(L, gradient.auxiliary());
  return 2;
}

// jacrev(f [, argnums, has_aux]): a function that returns the Jacobian of f's result, which is made
// of all rows at once.
int jacrev(lua_State* L) {
  return transform_function(L, "jacrev", kGradientOptions, native<call_jacrev>);
}

constexpr luaL_Reg kFuncGradientFunctions[] = {
    {"grad", native<grad_of_function>},
    {"grad_and_value", native<grad_and_value>},
    {"jacrev", native<jacrev>},
};

}  // namespace

std::span<const luaL_Reg> func_gradient_functions() { return kFuncGradientFunctions; }

}  // namespace ohm::lua
