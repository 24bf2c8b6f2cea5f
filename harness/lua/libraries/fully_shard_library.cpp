#include "harness/lua/libraries/fully_shard_library.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "runtime/nn/module_walk.h"
#include "runtime/parallel/fully_shard.h"

namespace ohm::lua {
namespace {

using parallel::FullyShardedGroup;
using parallel::FullyShardedState;

constexpr std::string_view kFullyShard = "fully_shard";

std::optional<DType> policy_dtype(lua_State* L, const NamedArguments& policy,
                                  std::string_view name) {
  if (!policy.push(name)) return std::nullopt;
  const DType dtype = dtype_argument(L, -1, {kFullyShard, name});
  lua_pop(L, 1);
  if (!is_floating(dtype)) {
    throw std::invalid_argument(
        fmt::format("[fully_shard] {} must be a floating dtype, got {}", name, name_of(dtype)));
  }
  return dtype;
}

parallel::MixedPrecisionPolicy policy_argument(lua_State* L, const NamedArguments& named) {
  parallel::MixedPrecisionPolicy policy;
  if (!named.push("mp_policy")) return policy;
  if (lua_type(L, -1) != LUA_TTABLE) {
    refuse_argument(L, -1, {kFullyShard, "mp_policy"}, "a table: {param_dtype = ohm.bfloat16}");
  }
  const NamedArguments fields(L, kFullyShard, lua_gettop(L));
  constexpr std::string_view kNames[] = {"cast_forward_inputs", "output_dtype", "param_dtype",
                                         "reduce_dtype"};
  fields.check_names(kNames);
  policy.param_dtype = policy_dtype(L, fields, "param_dtype");
  policy.reduce_dtype = policy_dtype(L, fields, "reduce_dtype");
  policy.output_dtype = policy_dtype(L, fields, "output_dtype");
  policy.cast_forward_inputs = fields.boolean("cast_forward_inputs", true);
  lua_pop(L, 1);
  return policy;
}

// fully_shard(module [, {mp_policy, reshard_after_forward}]): the module.
int fully_shard(lua_State* L) {
  const NamedArguments named(L, kFullyShard);
  constexpr std::string_view kNames[] = {"mp_policy", "reshard_after_forward"};
  named.check_names(kNames);
  parallel::FullyShardOptions options;
  if (named.push("reshard_after_forward")) {
    options.reshard_after_forward = boolean_argument(L, -1, {kFullyShard, "reshard_after_forward"});
    lua_pop(L, 1);
  }
  options.mp_policy = policy_argument(L, named);
  parallel::fully_shard(module_argument(L, 1, {kFullyShard, "module"}), options);
  lua_pushvalue(L, 1);
  return 1;
}

constexpr luaL_Reg kFullyShardFunctions[] = {{"fully_shard", native<fully_shard>}};

// ---- methods ------------------------------------------------------------------------------------

std::shared_ptr<FullyShardedState> sharded_self(lua_State* L, std::string_view method) {
  auto state = parallel::find_sharded_state(*module_argument(L, 1, {method, "self"}));
  if (state) return state;
  throw std::invalid_argument(
      fmt::format("[{}] ohm.distributed.fully_shard was not called on this module", method));
}

int unshard(lua_State* L) {
  sharded_self(L, "unshard")->unshard();
  return 0;
}

int reshard(lua_State* L) {
  sharded_self(L, "reshard")->reshard();
  return 0;
}

int reset_iter_state(lua_State* L) {
  sharded_self(L, "reset_iter_state")->give_up();
  return 0;
}

// method(flag [, {recurse}]): of the module, and without recurse = false of those below it.
int set_on_groups(lua_State* L, std::string_view method, std::string_view argument,
                  bool FullyShardedGroup::*flag) {
  const NamedArguments named(L, method);
  constexpr std::string_view kNames[] = {"recurse"};
  named.check_names(kNames);
  const bool value = boolean_argument(L, 2, {method, argument});
  const std::shared_ptr<FullyShardedState> self = sharded_self(L, method);
  if (!named.boolean("recurse", true)) {
    if (self->group() != nullptr) self->group()->*flag = value;
    return 0;
  }
  nn::Module& module = *module_argument(L, 1, {method, "self"});
  nn::walk_modules(module, [&](const nn::Module& each, const std::string& /*prefix*/) {
    const auto state = parallel::find_sharded_state(each);
    if (state && state->group() != nullptr) state->group()->*flag = value;
  });
  return 0;
}

int set_requires_gradient_sync(lua_State* L) {
  return set_on_groups(L, "set_requires_gradient_sync", "requires_gradient_sync",
                       &FullyShardedGroup::reduces_gradients);
}

int set_reshard_after_backward(lua_State* L) {
  return set_on_groups(L, "set_reshard_after_backward", "reshard_after_backward",
                       &FullyShardedGroup::reshards_after_backward);
}

constexpr luaL_Reg kFullyShardedMethods[] = {
    {"reset_iter_state", native<reset_iter_state>},
    {"reshard", native<reshard>},
    {"set_requires_gradient_sync", native<set_requires_gradient_sync>},
    {"set_reshard_after_backward", native<set_reshard_after_backward>},
    {"unshard", native<unshard>},
};

}  // namespace

std::span<const luaL_Reg> fully_shard_functions() { return kFullyShardFunctions; }
std::span<const luaL_Reg> fully_sharded_methods() { return kFullyShardedMethods; }

}  // namespace ohm::lua
