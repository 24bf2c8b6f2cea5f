#include "harness/lua/bind/parameter_group.h"

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/optim/registry.h"

namespace ohm::lua {
namespace {

constexpr std::string_view kGroupName = "add_param_group";

// The group's parameters: a list of tensors, or one.
ops::Value parameters_of_group(lua_State* L, int group) {
  lua_getfield(L, group, "params");
  const ArgumentName name{kGroupName, "params"};
  ops::Value parameters = lua_type(L, -1) == LUA_TUSERDATA
                              ? ops::Value(std::vector<Tensor>{tensor_argument(L, -1, name)})
                              : value_argument(L, lua_gettop(L), ops::ParamKind::tensor_list, name);
  lua_pop(L, 1);
  return parameters;
}

}  // namespace

int add_param_group(lua_State* L, optim::Optimizer& optimizer) {
  if (lua_type(L, 2) != LUA_TTABLE) refuse_argument(L, 2, {kGroupName, "param_group"}, "a table");
  const optim::OptimizerOrigin& origin = optimizer.origin();
  if (origin.kind == nullptr) {
    throw std::invalid_argument(
        fmt::format("[{}] {} takes no further groups", kGroupName, optimizer.type_name()));
  }
  const std::vector<ops::Param>& params = origin.kind->params;
  std::vector<std::string_view> names;
  for (const ops::Param& param : params) names.push_back(param.name);
  const NamedArguments named(L, kGroupName, 2);
  named.check_names(names);
  optim::OptimizerOrigin made = origin;
  for (std::size_t i = 1; i < params.size(); ++i) {
    if (!named.push(params[i].name)) continue;
    made.options[i] =
        value_argument(L, lua_gettop(L), params[i].kind, {kGroupName, params[i].name});
    lua_pop(L, 1);
  }
  std::vector<ops::Value> values = made.options;
  values[0] = parameters_of_group(L, 2);
  optim::OptimizerPtr group = origin.kind->make(values);
  group->set_origin(std::move(made));
  optimizer.add_group(std::move(group));
  return 0;
}

}  // namespace ohm::lua
