#include "harness/lua/libraries/gradient_library.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/interpreter.h"
#include "runtime/autograd/engine.h"

namespace ohm::lua {
namespace {

// A tensor, or a list of tensors.
std::vector<Tensor> tensor_or_tensors_argument(lua_State* L, int index, const ArgumentName& name) {
  if (lua_type(L, index) != LUA_TTABLE) return {tensor_argument(L, index, name)};
  return std::get<std::vector<Tensor>>(value_argument(L, index, ops::ParamKind::tensor_list, name));
}

// The gradients of the roots, one for each or none: the argument at `position`, or the named one.
std::vector<Tensor> root_gradients(lua_State* L, const NamedArguments& named, int position,
                                   const ArgumentName& name, std::size_t roots) {
  std::vector<Tensor> gradients;
  if (named.positional_count() >= position) {
    gradients = tensor_or_tensors_argument(L, position, name);
  } else if (named.push(name.argument)) {
    gradients = tensor_or_tensors_argument(L, -1, name);
  }
  if (gradients.empty() || gradients.size() == roots) return gradients;
  throw std::invalid_argument(fmt::format("[{}] {} has {} gradients for {} tensors", name.function,
                                          name.argument, gradients.size(), roots));
}

// Where an argument stands: at `position`, or on top of the stack where it is named.
int argument_at(lua_State* L, const NamedArguments& named, int position, std::string_view name) {
  return named.positional_count() < position && named.push(name) ? lua_gettop(L) : position;
}

GraphRetention retention(const NamedArguments& named, bool creates_graph) {
  return named.boolean("retain_graph", creates_graph) ? GraphRetention::retain
                                                      : GraphRetention::release;
}

GradientGraph graph(bool is_created) {
  return is_created ? GradientGraph::record : GradientGraph::none;
}

// grad(outputs, inputs [, grad_outputs] [, {grad_outputs, retain_graph, create_graph,
// allow_unused}]): the gradient of an input, or a list of those of a list of inputs, with nil for
// an unused one.
int grad(lua_State* L) {
  const NamedArguments named(L, "grad");
  constexpr std::string_view kNames[] = {"allow_unused", "create_graph", "grad_outputs",
                                         "inputs",       "outputs",      "retain_graph"};
  named.check_names(kNames);
  const int first = argument_at(L, named, 1, "outputs");
  const int second = argument_at(L, named, 2, "inputs");
  std::vector<Tensor> outputs = tensor_or_tensors_argument(L, first, {"grad", "outputs"});
  const std::vector<Tensor> inputs = tensor_or_tensors_argument(L, second, {"grad", "inputs"});
  if (outputs.empty() || inputs.empty()) {
    throw std::invalid_argument("[grad] outputs and inputs must not be empty");
  }
  const bool creates_graph = named.boolean("create_graph", false);
  GradientRequest request;
  request.retention = retention(named, creates_graph);
  request.graph = graph(creates_graph);
  request.allows_unused = named.boolean("allow_unused", false);
  std::vector<Tensor> given = root_gradients(L, named, 3, {"grad", "grad_outputs"}, outputs.size());
  const std::vector<Tensor> found = gradients(outputs, std::move(given), inputs, request);
  // An output that only the call held goes before the gradients that were made for it.
  outputs.clear();
  lua_pushnil(L);
  lua_replace(L, first);
  Interpreter::of(L).collect(L);
  const auto push = [L](const Tensor& tensor) {
    if (tensor.defined()) {
      push_tensor(L, tensor);
    } else {
      lua_pushnil(L);
    }
  };
  if (lua_type(L, second) != LUA_TTABLE) {
    push(found[0]);
    return 1;
  }
  // The last handle is the oldest: elements of a list that dies go from the last to the first.
  lua_createtable(L, static_cast<int>(found.size()), 0);
  for (std::size_t i = found.size(); i > 0; --i) {
    push(found[i - 1]);
    lua_rawseti(L, -2, static_cast<lua_Integer>(i));
  }
  return 1;
}

// backward(tensors [, grad_tensors] [, {grad_tensors, retain_graph, create_graph}])
int backward_of(lua_State* L) {
  const NamedArguments named(L, "backward");
  constexpr std::string_view kNames[] = {"create_graph", "grad_tensors", "retain_graph"};
  named.check_names(kNames);
  const std::vector<Tensor> roots = tensor_or_tensors_argument(L, 1, {"backward", "tensors"});
  std::vector<Tensor> given =
      root_gradients(L, named, 2, {"backward", "grad_tensors"}, roots.size());
  const bool creates_graph = named.boolean("create_graph", false);
  backward(roots, std::move(given), retention(named, creates_graph), graph(creates_graph));
  return 0;
}

constexpr luaL_Reg kGradientFunctions[] = {
    {"backward", native<backward_of>},
    {"grad", native<grad>},
};

}  // namespace

std::span<const luaL_Reg> gradient_functions() { return kGradientFunctions; }

}  // namespace ohm::lua
