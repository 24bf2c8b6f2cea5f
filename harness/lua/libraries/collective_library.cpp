#include "harness/lua/libraries/collective_library.h"

#include <string_view>
#include <vector>

#include "harness/lua/bind/native.h"
#include "harness/lua/libraries/distributed_call.h"

namespace ohm::lua {
namespace {

// A rank that is not in the group does nothing.

int all_reduce(lua_State* L) {
  constexpr std::string_view kNames[] = {"tensor", "op", "group", "async_op"};
  const DistributedCall call(L, "all_reduce", kNames);
  const Tensor tensor = call.tensor("tensor");
  if (!call.is_member()) return 0;
  return push_work(L, call.group().all_reduce(tensor, call.reduction(), call.mode()));
}

int broadcast(lua_State* L) {
  constexpr std::string_view kNames[] = {"tensor", "src", "group", "async_op", "group_src"};
  const DistributedCall call(L, "broadcast", kNames);
  const Tensor tensor = call.tensor("tensor");
  if (!call.is_member()) return 0;
  const int source = call.peer("src", call.group().ranks()[0]);
  return push_work(L, call.group().broadcast(tensor, source, call.mode()));
}

int reduce(lua_State* L) {
  constexpr std::string_view kNames[] = {"tensor", "dst", "op", "group", "async_op", "group_dst"};
  const DistributedCall call(L, "reduce", kNames);
  const Tensor tensor = call.tensor("tensor");
  if (!call.is_member()) return 0;
  const int destination = call.peer("dst", call.group().ranks()[0]);
  return push_work(L, call.group().reduce(tensor, destination, call.reduction(), call.mode()));
}

int all_gather(lua_State* L) {
  constexpr std::string_view kNames[] = {"tensor_list", "tensor", "group", "async_op"};
  const DistributedCall call(L, "all_gather", kNames);
  const std::vector<Tensor> outputs = call.tensors("tensor_list");
  const Tensor tensor = call.tensor("tensor");
  if (!call.is_member()) return 0;
  return push_work(L, call.group().all_gather(outputs, tensor, call.mode()));
}

int reduce_scatter(lua_State* L) {
  constexpr std::string_view kNames[] = {"output", "input_list", "op", "group", "async_op"};
  const DistributedCall call(L, "reduce_scatter", kNames);
  const Tensor output = call.tensor("output");
  const std::vector<Tensor> inputs = call.tensors("input_list");
  if (!call.is_member()) return 0;
  return push_work(L, call.group().reduce_scatter(output, inputs, call.reduction(), call.mode()));
}

int all_gather_into_tensor(lua_State* L) {
  constexpr std::string_view kNames[] = {"output_tensor", "input_tensor", "group", "async_op"};
  const DistributedCall call(L, "all_gather_into_tensor", kNames);
  const Tensor output = call.tensor("output_tensor");
  const Tensor input = call.tensor("input_tensor");
  if (!call.is_member()) return 0;
  return push_work(L, call.group().all_gather_into(output, input, call.mode()));
}

int reduce_scatter_tensor(lua_State* L) {
  constexpr std::string_view kNames[] = {"output", "input", "op", "group", "async_op"};
  const DistributedCall call(L, "reduce_scatter_tensor", kNames);
  const Tensor output = call.tensor("output");
  const Tensor input = call.tensor("input");
  if (!call.is_member()) return 0;
  return push_work(L,
                   call.group().reduce_scatter_from(output, input, call.reduction(), call.mode()));
}

int all_to_all_single(lua_State* L) {
  constexpr std::string_view kNames[] = {
      "output", "input", "output_split_sizes", "input_split_sizes", "group", "async_op"};
  const DistributedCall call(L, "all_to_all_single", kNames);
  const Tensor output = call.tensor("output");
  const Tensor input = call.tensor("input");
  const parallel::Splits splits{call.integers("output_split_sizes"),
                                call.integers("input_split_sizes")};
  if (!call.is_member()) return 0;
  return push_work(L, call.group().all_to_all_single(output, input, splits, call.mode()));
}

int all_to_all(lua_State* L) {
  constexpr std::string_view kNames[] = {"output_tensor_list", "input_tensor_list", "group",
                                         "async_op"};
  const DistributedCall call(L, "all_to_all", kNames);
  const std::vector<Tensor> outputs = call.tensors("output_tensor_list");
  const std::vector<Tensor> inputs = call.tensors("input_tensor_list");
  if (!call.is_member()) return 0;
  return push_work(L, call.group().all_to_all(outputs, inputs, call.mode()));
}

// The list on rank dst alone.
int gather(lua_State* L) {
  constexpr std::string_view kNames[] = {"tensor", "gather_list", "dst",
                                         "group",  "async_op",    "group_dst"};
  const DistributedCall call(L, "gather", kNames);
  const Tensor tensor = call.tensor("tensor");
  const std::vector<Tensor> outputs = call.tensors_or_none("gather_list");
  if (!call.is_member()) return 0;
  const int destination = call.peer("dst", call.group().ranks()[0]);
  return push_work(L, call.group().gather(outputs, tensor, destination, call.mode()));
}

// The list on rank src alone.
int scatter(lua_State* L) {
  constexpr std::string_view kNames[] = {"tensor", "scatter_list", "src",
                                         "group",  "async_op",     "group_src"};
  const DistributedCall call(L, "scatter", kNames);
  const Tensor output = call.tensor("tensor");
  const std::vector<Tensor> inputs = call.tensors_or_none("scatter_list");
  if (!call.is_member()) return 0;
  const int source = call.peer("src", call.group().ranks()[0]);
  return push_work(L, call.group().scatter(output, inputs, source, call.mode()));
}

int barrier(lua_State* L) {
  constexpr std::string_view kNames[] = {"group", "async_op"};
  const DistributedCall call(L, "barrier", kNames);
  if (!call.is_member()) return 0;
  return push_work(L, call.group().barrier(call.mode()));
}

constexpr luaL_Reg kCollectiveFunctions[] = {
    {"all_gather", native<all_gather>},
    {"all_gather_into_tensor", native<all_gather_into_tensor>},
    {"all_reduce", native<all_reduce>},
    {"all_to_all", native<all_to_all>},
    {"all_to_all_single", native<all_to_all_single>},
    {"barrier", native<barrier>},
    {"broadcast", native<broadcast>},
    {"gather", native<gather>},
    {"reduce", native<reduce>},
    {"reduce_scatter", native<reduce_scatter>},
    {"reduce_scatter_tensor", native<reduce_scatter_tensor>},
    {"scatter", native<scatter>},
};

}  // namespace

std::span<const luaL_Reg> collective_functions() { return kCollectiveFunctions; }

}  // namespace ohm::lua
