#include "harness/lua/libraries/process_group_library.h"

#include <fmt/core.h>

#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/libraries/distributed_call.h"

namespace ohm::lua {

/// torch.distributed.P2POp: what is sent or received with others at once.
struct PointToPoint {
  parallel::GroupPtr group;
  parallel::RankGroup::Transfer transfer;
};
using PointToPointPtr = std::shared_ptr<const PointToPoint>;

template <>
struct HandleOf<PointToPointPtr> {
  static const HandleClass kClass;
};

namespace {

using parallel::GroupPtr;
using parallel::RankGroup;
using Direction = RankGroup::Direction;

// ---- groups -------------------------------------------------------------------------------------

constexpr std::string_view kGroupName[] = {"group"};

int new_group(lua_State* L) {
  constexpr std::string_view kNames[] = {"ranks"};
  const DistributedCall call(L, "new_group", kNames);
  std::vector<int> ranks;
  const RankGroup& world = call.group();
  for (const std::int64_t rank : call.integers("ranks")) {
    if (rank < 0 || rank >= world.world_size()) {
      throw std::invalid_argument(fmt::format("[new_group] rank {} does not exist", rank));
    }
    ranks.push_back(static_cast<int>(rank));
  }
  if (call.has("ranks") && ranks.empty()) {
    throw std::invalid_argument("[new_group] ranks has to have one at least");
  }
  push_handle<GroupPtr>(L, call.group().new_group(ranks));
  return 1;
}

int get_rank(lua_State* L) {
  const DistributedCall call(L, "get_rank", kGroupName);
  return lua_pushinteger(L, call.group().rank()), 1;
}

// −1 where the rank is not in the group.
int get_world_size(lua_State* L) {
  const DistributedCall call(L, "get_world_size", kGroupName);
  return lua_pushinteger(L, call.is_member() ? call.group().world_size() : -1), 1;
}

int get_process_group_ranks(lua_State* L) {
  const DistributedCall call(L, "get_process_group_ranks", kGroupName);
  lua_Integer place = 0;
  const std::vector<int> ranks = call.group().ranks();
  lua_createtable(L, static_cast<int>(ranks.size()), 0);
  for (const int rank : ranks) {
    lua_pushinteger(L, rank);
    lua_rawseti(L, -2, ++place);
  }
  return 1;
}

int get_group_rank(lua_State* L) {
  constexpr std::string_view kNames[] = {"group", "global_rank"};
  const DistributedCall call(L, "get_group_rank", kNames);
  return lua_pushinteger(L, call.peer("global_rank")), 1;
}

int get_global_rank(lua_State* L) {
  constexpr std::string_view kNames[] = {"group", "group_rank"};
  const DistributedCall call(L, "get_global_rank", kNames);
  const int rank = call.peer("rank");
  return lua_pushinteger(L, call.group().ranks()[static_cast<std::size_t>(rank)]), 1;
}

int is_initialized(lua_State* L) {
  const RankGroup* const world = RankGroup::current();
  return lua_pushboolean(L, world != nullptr && !world->has_left()), 1;
}

// Without a group: the rank leaves all, the last one first.
int destroy_process_group(lua_State* L) {
  const DistributedCall call(L, "destroy_process_group", kGroupName);
  RankGroup& group = call.group();
  const auto& groups = group.groups();
  for (std::size_t i = groups.size(); i > 0; --i) groups[i - 1]->leave();
  group.leave();
  return 0;
}

constexpr luaL_Reg kProcessGroupFunctions[] = {
    {"destroy_process_group", native<destroy_process_group>},
    {"get_global_rank", native<get_global_rank>},
    {"get_group_rank", native<get_group_rank>},
    {"get_process_group_ranks", native<get_process_group_ranks>},
    {"get_rank", native<get_rank>},
    {"get_world_size", native<get_world_size>},
    {"is_initialized", native<is_initialized>},
    {"new_group", native<new_group>},
};

void push_world(lua_State* L) {
  RankGroup* const world = RankGroup::current();
  if (world == nullptr) return lua_pushnil(L);
  push_handle<GroupPtr>(L, world->shared_from_this());
}

void refuse_world(lua_State* /*L*/, int /*index*/) {
  throw std::invalid_argument("[distributed] group.WORLD cannot be set");
}

constexpr Property kGroupProperties[] = {{"WORLD", push_world, refuse_world}};

// ---- from one rank to another -------------------------------------------------------------------

// What NCCL has no tags for.
constexpr std::string_view kSendNames[] = {"tensor", "dst", "group", "tag", "group_dst"};
constexpr std::string_view kReceiveNames[] = {"tensor", "src", "group", "tag", "group_src"};

DistributedCall transfer_call(lua_State* L, std::string_view function, Direction direction) {
  const bool sends = direction == Direction::send;
  const DistributedCall call(L, function, sends ? kSendNames : kReceiveNames);
  call.integer("tag");
  return call;
}

RankGroup::Transfer transfer_of(const DistributedCall& call, Direction direction) {
  Tensor tensor = call.tensor("tensor");
  return {direction, std::move(tensor), call.peer(direction == Direction::send ? "dst" : "src")};
}

int send(lua_State* L) {
  const DistributedCall call = transfer_call(L, "send", Direction::send);
  if (call.is_member()) call.group().transfer(transfer_of(call, Direction::send));
  return 0;
}

// The rank that sent, −1 where the rank is not in the group.
int recv(lua_State* L) {
  const DistributedCall call = transfer_call(L, "recv", Direction::receive);
  if (!call.is_member()) return lua_pushinteger(L, -1), 1;
  const RankGroup::Transfer transfer = transfer_of(call, Direction::receive);
  call.group().transfer(transfer);
  return lua_pushinteger(L, call.group().ranks()[static_cast<std::size_t>(transfer.peer)]), 1;
}

int isend(lua_State* L) {
  const DistributedCall call = transfer_call(L, "isend", Direction::send);
  if (!call.is_member()) return 0;
  return push_work(L, call.group().begin_transfer(transfer_of(call, Direction::send)));
}

int irecv(lua_State* L) {
  const DistributedCall call = transfer_call(L, "irecv", Direction::receive);
  if (!call.is_member()) return 0;
  return push_work(L, call.group().begin_transfer(transfer_of(call, Direction::receive)));
}

Direction direction_argument(const DistributedCall& call) {
  lua_State* L = call.state();
  if (!call.push("op")) lua_pushnil(L);
  const lua_CFunction function = lua_tocfunction(L, -1);
  lua_pop(L, 1);
  if (function == native<isend>) return Direction::send;
  if (function == native<irecv>) return Direction::receive;
  throw std::invalid_argument(
      "[P2POp] op has to be ohm.distributed.isend or ohm.distributed.irecv");
}

int point_to_point(lua_State* L) {
  constexpr std::string_view kNames[] = {"op", "tensor", "peer", "group", "tag", "group_peer"};
  const DistributedCall call(L, "P2POp", kNames);
  const Direction direction = direction_argument(call);
  call.integer("tag");
  Tensor tensor = call.tensor("tensor");
  PointToPoint made{call.group().shared_from_this(),
                    {direction, std::move(tensor), call.peer("peer")}};
  push_handle<PointToPointPtr>(L, std::make_shared<const PointToPoint>(std::move(made)));
  return 1;
}

int index_point_to_point(lua_State* L) {
  const auto& operation = object_argument<const PointToPoint>(L, 1, {"P2POp", "self"});
  const std::string_view name = string_argument(L, 2, {"P2POp", "name"});
  if (name == "group_peer") return lua_pushinteger(L, operation.transfer.peer), 1;
  throw std::invalid_argument(fmt::format("[P2POp] has no field '{}'", name));
}

constexpr luaL_Reg kPointToPointMetamethods[] = {
    {"__index", native<index_point_to_point, Entry::access>}};

// A list of one handle, as over NCCL.
int batch_isend_irecv(lua_State* L) {
  constexpr ArgumentName kList{"batch_isend_irecv", "p2p_op_list"};
  if (lua_type(L, 1) != LUA_TTABLE) refuse_argument(L, 1, kList, "a list of P2POp");
  std::vector<RankGroup::Transfer> transfers;
  GroupPtr group;
  const lua_Integer count = list_length(L, 1, kList);
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, 1, i);
    const auto& operation = object_argument<const PointToPoint>(L, -1, kList);
    lua_pop(L, 1);
    if (group && operation.group != group) {
      throw std::invalid_argument("[batch_isend_irecv] all have to be of one group");
    }
    group = operation.group;
    transfers.push_back(operation.transfer);
  }
  if (!group) throw std::invalid_argument("[batch_isend_irecv] the list has to have a P2POp");
  parallel::WorkPtr work = group->begin_transfers(transfers);
  transfers.clear();
  lua_createtable(L, 1, 0);
  push_work(L, std::move(work));
  lua_rawseti(L, -2, 1);
  return 1;
}

constexpr luaL_Reg kPointToPointFunctions[] = {
    {"P2POp", native<point_to_point>},
    {"batch_isend_irecv", native<batch_isend_irecv>},
    {"irecv", native<irecv>},
    {"isend", native<isend>},
    {"recv", native<recv>},
    {"send", native<send>},
};

}  // namespace

const HandleClass HandleOf<PointToPointPtr>::kClass = {"P2POp", kPointToPointMetamethods};

std::span<const luaL_Reg> process_group_functions() { return kProcessGroupFunctions; }
std::span<const Property> group_properties() { return kGroupProperties; }
std::span<const luaL_Reg> point_to_point_functions() { return kPointToPointFunctions; }

}  // namespace ohm::lua
