#include "harness/lua/libraries/sharded_optimizer_library.h"

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/optimizer_handle.h"
#include "harness/lua/bind/parameter_handle.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/variable.h"
#include "runtime/parallel/parameter_partition.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::lua {

using optim::OptimizerPtr;
using parallel::RankGroup;

/// Every rank has all parameters and gradients, and the optimizer's state of its own part.
struct ZeroRedundancyOptimizer {
  std::vector<Tensor> parameters;
  std::vector<std::vector<Tensor>> parts;  ///< by rank
  OptimizerPtr local;                      ///< null for an empty part
};
using ZeroPtr = std::shared_ptr<ZeroRedundancyOptimizer>;

template <>
struct HandleOf<ZeroPtr> {
  static const HandleClass kClass;
};

namespace {

constexpr std::string_view kShardedOptimizerName = "ZeroRedundancyOptimizer";

RankGroup& running_group() {
  RankGroup* group = RankGroup::current();
  if (group == nullptr) {
    throw std::invalid_argument(
        "[ZeroRedundancyOptimizer] must be constructed inside ohm.distributed.spawn");
  }
  return *group;
}

ZeroRedundancyOptimizer& self_sharded(lua_State* L, std::string_view method) {
  return object_argument<ZeroRedundancyOptimizer>(L, 1, {method, "self"});
}

// Each rank updates its part, then broadcasts it to the others.
int sharded_step(lua_State* L) {
  ZeroRedundancyOptimizer& optimizer = self_sharded(L, "step");
  RankGroup& group = running_group();
  if (optimizer.local) optimizer.local->step();
  for (std::size_t rank = 0; rank < optimizer.parts.size(); ++rank) {
    for (const Tensor& parameter : optimizer.parts[rank]) {
      group.broadcast(detach(parameter), static_cast<int>(rank));
    }
  }
  return 0;
}

int sharded_zero_grad(lua_State* L) {
  const NamedArguments named(L, "zero_grad");
  constexpr std::string_view kNames[] = {"set_to_none"};
  named.check_names(kNames);
  optim::zero_grad(self_sharded(L, "zero_grad").parameters, named.boolean("set_to_none", true));
  return 0;
}

constexpr luaL_Reg kShardedOptimizerMethods[] = {{"step", native<sharded_step>},
                                                 {"zero_grad", native<sharded_zero_grad>}};

int index_sharded_optimizer(lua_State* L) {
  if (string_argument(L, 2, {kShardedOptimizerName, "name"}) != "optim") {
    return push_method(L, kShardedOptimizerMethods, kShardedOptimizerName, {"optim"});
  }
  const OptimizerPtr& local = self_sharded(L, "optim").local;
  if (!local) return lua_pushnil(L), 1;
  push_handle<OptimizerPtr>(L, local);
  return 1;
}

constexpr luaL_Reg kShardedOptimizerMetamethods[] = {
    {"__index", native<index_sharded_optimizer, Entry::access>}};

// Calls optimizer_class(part, options): the options are the table's, without the class itself.
OptimizerPtr make_local(lua_State* L, const std::vector<Tensor>& part) {
  if (part.empty()) return nullptr;
  lua_getfield(L, 2, "optimizer_class");
  if (lua_type(L, -1) != LUA_TFUNCTION) {
    refuse_argument(L, -1, {kShardedOptimizerName, "optimizer_class"},
                    "an optimizer: ohm.optim.Adam");
  }
  lua_createtable(L, static_cast<int>(part.size()), 0);
  lua_Integer count = 0;
  for (const Tensor& parameter : part) {
    push_parameter(L, parameter);
    lua_rawseti(L, -2, ++count);
  }
  lua_newtable(L);
  for (lua_pushnil(L); lua_next(L, 2) != 0;) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, -4);
  }
  lua_pushnil(L);
  lua_setfield(L, -2, "optimizer_class");
  lua_call(L, 2, 1);
  object_argument<optim::Optimizer>(L, -1, {kShardedOptimizerName, "result of optimizer_class"});
  return *test_handle<OptimizerPtr>(L, -1);
}

// ZeroRedundancyOptimizer(parameters, {optimizer_class = ohm.optim.Adam, lr = …})
int zero_redundancy_optimizer(lua_State* L) {
  if (lua_type(L, 2) != LUA_TTABLE) {
    refuse_argument(L, 2, {kShardedOptimizerName, "options"},
                    "a table: {optimizer_class = ohm.optim.Adam}");
  }
  RankGroup& group = running_group();
  const ops::Value parameters =
      value_argument(L, 1, ops::ParamKind::tensor_list, {kShardedOptimizerName, "parameters"});
  auto optimizer = std::make_shared<ZeroRedundancyOptimizer>();
  optimizer->parameters = std::get<std::vector<Tensor>>(parameters);
  optimizer->parts = parallel::partition_parameters(optimizer->parameters, group.world_size());
  optimizer->local = make_local(L, optimizer->parts[static_cast<std::size_t>(group.rank())]);
  push_handle<ZeroPtr>(L, std::move(optimizer));
  return 1;
}

constexpr luaL_Reg kShardedOptimizerFunctions[] = {
    {"ZeroRedundancyOptimizer", native<zero_redundancy_optimizer>},
};

}  // namespace

const HandleClass HandleOf<ZeroPtr>::kClass = {"ZeroRedundancyOptimizer",
                                               kShardedOptimizerMetamethods};

std::span<const luaL_Reg> sharded_optimizer_functions() { return kShardedOptimizerFunctions; }

}  // namespace ohm::lua
