#include "harness/lua/libraries/distributed_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/push_text.h"

namespace ohm::lua {

using parallel::CollectiveWork;
using parallel::GroupPtr;
using parallel::Mode;
using parallel::RankGroup;
using parallel::Reduction;
using parallel::WorkPtr;

namespace {

constexpr std::array kReductions = {Reduction::sum, Reduction::avg, Reduction::product,
                                    Reduction::min, Reduction::max};

// ---- handles ------------------------------------------------------------------------------------

CollectiveWork& self_work(lua_State* L, std::string_view method) {
  return object_argument<CollectiveWork>(L, 1, {method, "self"});
}

int work_wait(lua_State* L) {
  self_work(L, "wait").wait();
  return lua_pushboolean(L, 1), 1;
}

int work_is_completed(lua_State* L) {
  return lua_pushboolean(L, self_work(L, "is_completed").is_completed()), 1;
}

constexpr luaL_Reg kWorkMethods[] = {
    {"is_completed", native<work_is_completed>},
    {"wait", native<work_wait>},
};

int index_work(lua_State* L) { return push_method(L, kWorkMethods, "Work"); }

constexpr luaL_Reg kWorkMetamethods[] = {{"__index", native<index_work, Entry::access>}};

RankGroup& self_group(lua_State* L, std::string_view method) {
  RankGroup& group = object_argument<RankGroup>(L, 1, {method, "self"});
  group.running_schedule(method);
  return group;
}

int group_rank(lua_State* L) { return lua_pushinteger(L, self_group(L, "rank").rank()), 1; }

int group_size(lua_State* L) { return lua_pushinteger(L, self_group(L, "size").world_size()), 1; }

constexpr luaL_Reg kGroupMethods[] = {
    {"rank", native<group_rank>},
    {"size", native<group_size>},
};

int index_group(lua_State* L) { return push_method(L, kGroupMethods, "ProcessGroup"); }

constexpr luaL_Reg kGroupMetamethods[] = {{"__index", native<index_group, Entry::access>}};

}  // namespace

const HandleClass HandleOf<WorkPtr>::kClass = {"Work", kWorkMetamethods};
const HandleClass HandleOf<GroupPtr>::kClass = {"ProcessGroup", kGroupMetamethods};

int push_work(lua_State* L, WorkPtr work) {
  if (work == nullptr) return 0;
  push_handle<WorkPtr>(L, std::move(work));
  return 1;
}

bool push_reduction(lua_State* L, std::string_view name) {
  const std::vector<std::string> names = reduction_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) return false;
  push_text(L, name);
  return true;
}

std::vector<std::string> reduction_names() {
  std::vector<std::string> names;
  for (const Reduction reduction : kReductions) names.emplace_back(name_of(reduction));
  return names;
}

// ---- arguments ----------------------------------------------------------------------------------

DistributedCall::DistributedCall(lua_State* L, std::string_view function,
                                 std::span<const std::string_view> names, std::size_t only_named)
    : state_(L), named_(L, function), names_(names) {
  named_.check_names(names);
  const std::size_t most = names.size() - only_named;
  if (static_cast<std::size_t>(named_.positional_count()) > most) {
    throw std::invalid_argument(fmt::format("[{}] takes at most {} arguments by position, not {}",
                                            function, most, named_.positional_count()));
  }
}

bool DistributedCall::push(std::string_view name) const {
  const auto place =
      static_cast<int>(std::find(names_.begin(), names_.end(), name) - names_.begin()) + 1;
  if (place > named_.positional_count() || lua_isnil(state_, place)) return named_.push(name);
  lua_pushvalue(state_, place);
  return true;
}

bool DistributedCall::has(std::string_view name) const {
  if (!push(name)) return false;
  lua_pop(state_, 1);
  return true;
}

Tensor DistributedCall::tensor(std::string_view name) const {
  if (!push(name)) lua_pushnil(state_);
  Tensor tensor = tensor_argument(state_, -1, {function(), name});
  lua_pop(state_, 1);
  return tensor;
}

std::vector<Tensor> DistributedCall::tensors(std::string_view name) const {
  if (!push(name)) lua_pushnil(state_);
  const ops::Value value =
      value_argument(state_, -1, ops::ParamKind::tensor_list, {function(), name});
  lua_pop(state_, 1);
  return std::get<std::vector<Tensor>>(value);
}

std::vector<Tensor> DistributedCall::tensors_or_none(std::string_view name) const {
  return has(name) ? tensors(name) : std::vector<Tensor>();
}

std::vector<std::int64_t> DistributedCall::integers(std::string_view name) const {
  if (!push(name)) return {};
  const ArgumentName argument{function(), name};
  if (lua_type(state_, -1) != LUA_TTABLE)
    refuse_argument(state_, -1, argument, "a list of integers");
  const int list = lua_gettop(state_);
  std::vector<std::int64_t> numbers;
  const lua_Integer length = list_length(state_, list, argument);
  for (lua_Integer i = 1; i <= length; ++i) {
    lua_rawgeti(state_, list, i);
    numbers.push_back(integer_argument(state_, -1, argument));
    lua_pop(state_, 1);
  }
  lua_pop(state_, 1);
  return numbers;
}

std::optional<std::int64_t> DistributedCall::integer(std::string_view name) const {
  if (!push(name)) return std::nullopt;
  const std::int64_t number = integer_argument(state_, -1, {function(), name});
  lua_pop(state_, 1);
  return number;
}

bool DistributedCall::boolean(std::string_view name) const {
  if (!push(name)) return false;
  const bool value = boolean_argument(state_, -1, {function(), name});
  lua_pop(state_, 1);
  return value;
}

Mode DistributedCall::mode() const { return boolean("async_op") ? Mode::async : Mode::waits; }

Reduction DistributedCall::reduction() const {
  if (!push("op")) return Reduction::sum;
  const std::string text(string_argument(state_, -1, {function(), "op"}));
  lua_pop(state_, 1);
  for (const Reduction reduction : kReductions) {
    if (name_of(reduction) == text) return reduction;
  }
  throw std::invalid_argument(
      fmt::format("[{}] op has to be one of ohm.distributed.ReduceOp: {}, "
                  "not '{}'",
                  function(), fmt::join(reduction_names(), ", "), text));
}

RankGroup& DistributedCall::group() const {
  RankGroup* const world = RankGroup::current();
  if (world == nullptr) {
    throw std::invalid_argument(
        fmt::format("[{}] must be called inside ohm.distributed.spawn", function()));
  }
  if (!push("group")) return *world;
  RankGroup& group = object_argument<RankGroup>(state_, -1, {function(), "group"});
  lua_pop(state_, 1);
  group.running_schedule(function());
  return group;
}

int DistributedCall::peer(std::string_view name, std::optional<int> otherwise) const {
  const RankGroup& group = this->group();
  const std::string of_group = fmt::format("group_{}", name);
  const std::optional<std::int64_t> in_group = integer(of_group);
  std::optional<std::int64_t> rank = integer(name);
  if (rank && in_group) {
    throw std::invalid_argument(
        fmt::format("[{}] {} and {} cannot both be given", function(), name, of_group));
  }
  if (in_group) {
    if (*in_group >= 0 && *in_group < group.world_size()) return static_cast<int>(*in_group);
    throw std::invalid_argument(fmt::format("[{}] the group, of {} ranks, has no rank {}",
                                            function(), group.world_size(), *in_group));
  }
  if (!rank) rank = otherwise;
  if (!rank) throw std::invalid_argument(fmt::format("[{}] {} has to be given", function(), name));
  const int world = RankGroup::current()->world_size();
  if (*rank < 0 || *rank >= world) {
    throw std::invalid_argument(fmt::format("[{}] rank {} does not exist", function(), *rank));
  }
  const int member = group.member_of(static_cast<int>(*rank));
  if (member != RankGroup::kNoMember) return member;
  throw std::invalid_argument(fmt::format("[{}] rank {} is none of the group's, which are {}",
                                          function(), *rank,
                                          parallel::names_of_ranks(group.ranks())));
}

}  // namespace ohm::lua
