#include "harness/lua/libraries/parallel_library.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/module_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/out_of_memory_value.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/parallel/data_parallel.h"
#include "runtime/parallel/distributed_data_parallel.h"
#include "runtime/parallel/rank_group.h"

namespace ohm::lua {
namespace {

using parallel::DataParallel;
using parallel::RankGroup;

// ---- DataParallel -------------------------------------------------------------------------------

std::vector<Device> devices_argument(lua_State* L, const NamedArguments& named) {
  std::vector<Device> devices;
  if (!named.push("device_ids")) return devices;
  const ArgumentName name{named.function(), "device_ids"};
  if (lua_type(L, -1) != LUA_TTABLE) refuse_argument(L, -1, name, "a list of devices");
  const auto count = static_cast<lua_Integer>(lua_rawlen(L, -1));
  for (lua_Integer i = 1; i <= count; ++i) {
    lua_rawgeti(L, -1, i);
    devices.push_back(device_argument(L, -1, name));
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return devices;
}

int data_parallel(lua_State* L) {
  const NamedArguments named(L, "DataParallel");
  constexpr std::string_view kNames[] = {"device_ids", "output_device", "gather"};
  named.check_names(kNames);
  std::optional<Device> output;
  if (named.push("output_device")) {
    output = device_argument(L, -1, {"DataParallel", "output_device"});
  }
  push_module(L, std::make_shared<DataParallel>(module_argument(L, 1, {"DataParallel", "module"}),
                                                devices_argument(L, named), output,
                                                named.boolean("gather", true)
                                                    ? DataParallel::Outputs::gathered
                                                    : DataParallel::Outputs::left));
  return 1;
}

int data_parallel_criterion(lua_State* L) {
  const NamedArguments named(L, "DataParallelCriterion");
  constexpr std::string_view kNames[] = {"device_ids"};
  named.check_names(kNames);
  push_module(L, std::make_shared<parallel::DataParallelCriterion>(
                     module_argument(L, 1, {"DataParallelCriterion", "criterion"}),
                     devices_argument(L, named)));
  return 1;
}

constexpr luaL_Reg kDataParallelFunctions[] = {
    {"DataParallel", native<data_parallel>},
    {"DataParallelCriterion", native<data_parallel_criterion>},
};

// ---- DistributedDataParallel --------------------------------------------------------------------

std::optional<std::size_t> bucket_cap_argument(const NamedArguments& named) {
  constexpr double kBytesPerMegabyte = 1 << 20U;
  const double cap = named.number("bucket_cap_mb", 0);
  if (cap == 0) return std::nullopt;
  if (!(cap > 0)) {
    throw std::invalid_argument(
        fmt::format("[DistributedDataParallel] bucket_cap_mb must be positive, got {}", cap));
  }
  return static_cast<std::size_t>(std::llround(cap * kBytesPerMegabyte));
}

int distributed_data_parallel(lua_State* L) {
  const NamedArguments named(L, "DistributedDataParallel");
  constexpr std::string_view kNames[] = {
      "broadcast_buffers",       "bucket_cap_mb", "device_ids",  "find_unused_parameters",
      "gradient_as_bucket_view", "init_sync",     "static_graph"};
  named.check_names(kNames);
  parallel::DistributedOptions options;
  options.bucket_cap_bytes = bucket_cap_argument(named);
  options.gradient_as_bucket_view = named.boolean("gradient_as_bucket_view", false);
  options.find_unused_parameters = named.boolean("find_unused_parameters", false);
  options.static_graph = named.boolean("static_graph", false);
  options.broadcast_buffers = named.boolean("broadcast_buffers", true);
  options.init_sync = named.boolean("init_sync", true);
  const std::vector<Device> devices = devices_argument(L, named);
  if (!devices.empty()) options.device = devices.front();
  push_module(L, std::make_shared<parallel::DistributedDataParallel>(
                     module_argument(L, 1, {"DistributedDataParallel", "module"}), options));
  return 1;
}

constexpr luaL_Reg kDistributedModuleFunctions[] = {
    {"DistributedDataParallel", native<distributed_data_parallel>},
};

// ---- ranks --------------------------------------------------------------------------------------

/// The body of one rank: a function of the script on a coroutine of its own, because a rank that
/// waits in a collective leaves its natives unfinished.
class RankBody {
 public:
  // The coroutine is kept alive by the stack of its maker.
  RankBody(lua_State* coroutine, int rank, int world_size)
      : state_(coroutine), rank_(rank), world_size_(world_size) {}

  // The function is on the coroutine's stack; its results are left there.
  void run() {
    lua_pushinteger(state_, rank_);
    lua_pushinteger(state_, world_size_);
    const int status = lua_pcall(state_, 2, LUA_MULTRET, 0);
    if (status == LUA_OK) return;
    if (const OutOfMemory* error = test_out_of_memory(state_, -1)) throw OutOfMemory(*error);
    const char* message = luaL_tolstring(state_, -1, nullptr);
    throw engine::ScriptError(message);
  }

 private:
  lua_State* state_;
  int rank_;
  int world_size_;
};

// spawn(n, fn): the results of all ranks, as a list of lists.
int spawn(lua_State* L) {
  constexpr std::int64_t kMostRanks = 1024;
  const std::int64_t ranks = integer_argument(L, 1, {"spawn", "nprocs"});
  if (ranks < 0 || ranks > kMostRanks) {
    throw std::invalid_argument(
        fmt::format("[spawn] nprocs must be between 1 and {}, got {}", kMostRanks, ranks));
  }
  const auto world_size = static_cast<int>(ranks);
  if (lua_type(L, 2) != LUA_TFUNCTION) refuse_argument(L, 2, {"spawn", "fn"}, "a function");
  luaL_checkstack(L, world_size + LUA_MINSTACK, "too many ranks");
  std::vector<lua_State*> coroutines;
  for (int rank = 0; rank < world_size; ++rank) {
    coroutines.push_back(lua_newthread(L));
    lua_pushvalue(L, 2);
    lua_xmove(L, coroutines.back(), 1);
  }
  RankGroup::run(world_size, [&](int rank) {
    RankBody(coroutines[static_cast<std::size_t>(rank)], rank, world_size).run();
  });
  lua_createtable(L, world_size, 0);
  for (int rank = 0; rank < world_size; ++rank) {
    lua_State* coroutine = coroutines[static_cast<std::size_t>(rank)];
    const int results = lua_gettop(coroutine);
    lua_createtable(L, results, 0);
    for (int i = 1; i <= results; ++i) {
      lua_pushvalue(coroutine, i);
      lua_xmove(coroutine, L, 1);
      lua_rawseti(L, -2, i);
    }
    lua_rawseti(L, -2, rank + 1);
  }
  return 1;
}

RankGroup& group(std::string_view function) {
  RankGroup* current = RankGroup::current();
  if (current == nullptr) {
    throw std::invalid_argument(
        fmt::format("[{}] must be called inside ohm.distributed.spawn", function));
  }
  return *current;
}

int get_rank(lua_State* L) {
  lua_pushinteger(L, group("get_rank").rank());
  return 1;
}

int get_world_size(lua_State* L) {
  lua_pushinteger(L, group("get_world_size").world_size());
  return 1;
}

int barrier(lua_State* /*L*/) {
  group("barrier").barrier();
  return 0;
}

int all_reduce(lua_State* L) {
  const Tensor tensor = tensor_argument(L, 1, {"all_reduce", "tensor"});
  group("all_reduce").all_reduce(tensor);
  return 0;
}

int broadcast(lua_State* L) {
  const Tensor tensor = tensor_argument(L, 1, {"broadcast", "tensor"});
  const std::int64_t source =
      lua_isnoneornil(L, 2) ? 0 : integer_argument(L, 2, {"broadcast", "src"});
  RankGroup& ranks = group("broadcast");
  if (source < 0 || source >= ranks.world_size()) {
    throw std::invalid_argument(fmt::format("[broadcast] rank {} does not exist", source));
  }
  ranks.broadcast(tensor, static_cast<int>(source));
  return 0;
}

std::vector<Tensor> tensors(lua_State* L, int index, const ArgumentName& name) {
  return std::get<std::vector<Tensor>>(value_argument(L, index, ops::ParamKind::tensor_list, name));
}

int all_gather(lua_State* L) {
  const std::vector<Tensor> outputs = tensors(L, 1, {"all_gather", "tensor_list"});
  group("all_gather").all_gather(outputs, tensor_argument(L, 2, {"all_gather", "tensor"}));
  return 0;
}

int reduce_scatter(lua_State* L) {
  const Tensor output = tensor_argument(L, 1, {"reduce_scatter", "output"});
  group("reduce_scatter").reduce_scatter(output, tensors(L, 2, {"reduce_scatter", "input_list"}));
  return 0;
}

// f(output, input)
template <class Collective>
int of_tensors(lua_State* L, std::string_view name, const Collective& collective) {
  const Tensor output = tensor_argument(L, 1, {name, "output"});
  collective(group(name), output, tensor_argument(L, 2, {name, "input"}));
  return 0;
}

int all_gather_into_tensor(lua_State* L) {
  return of_tensors(L, "all_gather_into_tensor",
                    [](RankGroup& ranks, const Tensor& output, const Tensor& input) {
                      ranks.all_gather_into(output, input);
                    });
}

int reduce_scatter_tensor(lua_State* L) {
  return of_tensors(L, "reduce_scatter_tensor",
                    [](RankGroup& ranks, const Tensor& output, const Tensor& input) {
                      ranks.reduce_scatter_from(output, input);
                    });
}

int all_to_all_single(lua_State* L) {
  return of_tensors(L, "all_to_all_single",
                    [](RankGroup& ranks, const Tensor& output, const Tensor& input) {
                      ranks.all_to_all_single(output, input);
                    });
}

int all_to_all(lua_State* L) {
  const std::vector<Tensor> outputs = tensors(L, 1, {"all_to_all", "output_tensor_list"});
  group("all_to_all").all_to_all(outputs, tensors(L, 2, {"all_to_all", "input_tensor_list"}));
  return 0;
}

// The rank that stands at `index`, 0 where none does.
int rank_argument(lua_State* L, int index, const ArgumentName& name) {
  const std::int64_t rank = lua_isnoneornil(L, index) ? 0 : integer_argument(L, index, name);
  const RankGroup& ranks = group(name.function);
  if (rank < 0 || rank >= ranks.world_size()) {
    throw std::invalid_argument(fmt::format("[{}] rank {} does not exist", name.function, rank));
  }
  return static_cast<int>(rank);
}

std::vector<Tensor> tensors_or_none(lua_State* L, int index, const ArgumentName& name) {
  return lua_isnoneornil(L, index) ? std::vector<Tensor>() : tensors(L, index, name);
}

// gather(tensor, gather_list, dst): the list on rank dst alone.
int gather(lua_State* L) {
  const Tensor tensor = tensor_argument(L, 1, {"gather", "tensor"});
  const std::vector<Tensor> outputs = tensors_or_none(L, 2, {"gather", "gather_list"});
  group("gather").gather(outputs, tensor, rank_argument(L, 3, {"gather", "dst"}));
  return 0;
}

// scatter(tensor, scatter_list, src): the list on rank src alone.
int scatter(lua_State* L) {
  const Tensor output = tensor_argument(L, 1, {"scatter", "tensor"});
  const std::vector<Tensor> inputs = tensors_or_none(L, 2, {"scatter", "scatter_list"});
  group("scatter").scatter(output, inputs, rank_argument(L, 3, {"scatter", "src"}));
  return 0;
}

int reduce(lua_State* L) {
  const Tensor tensor = tensor_argument(L, 1, {"reduce", "tensor"});
  group("reduce").reduce(tensor, rank_argument(L, 2, {"reduce", "dst"}));
  return 0;
}

constexpr luaL_Reg kDistributedFunctions[] = {
    {"all_gather", native<all_gather>},
    {"all_gather_into_tensor", native<all_gather_into_tensor>},
    {"all_reduce", native<all_reduce>},
    {"all_to_all", native<all_to_all>},
    {"all_to_all_single", native<all_to_all_single>},
    {"barrier", native<barrier>},
    {"broadcast", native<broadcast>},
    {"gather", native<gather>},
    {"get_rank", native<get_rank>},
    {"get_world_size", native<get_world_size>},
    {"reduce", native<reduce>},
    {"reduce_scatter", native<reduce_scatter>},
    {"reduce_scatter_tensor", native<reduce_scatter_tensor>},
    {"scatter", native<scatter>},
    {"spawn", native<spawn>},
};

}  // namespace

std::span<const luaL_Reg> data_parallel_functions() { return kDataParallelFunctions; }
std::span<const luaL_Reg> distributed_module_functions() { return kDistributedModuleFunctions; }
std::span<const luaL_Reg> distributed_functions() { return kDistributedFunctions; }

}  // namespace ohm::lua
