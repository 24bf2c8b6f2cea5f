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
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/out_of_memory_value.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/distributed_call.h"
#include "runtime/parallel/data_parallel.h"
#include "runtime/parallel/distributed_data_parallel.h"
#include "runtime/parallel/rank_group.h"
#include "runtime/parallel/sync_batch_norm.h"

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

// ---- SyncBatchNorm ------------------------------------------------------------------------------

constexpr std::string_view kSyncBatchNorm = "SyncBatchNorm";

// The group that is given; null for all ranks.
parallel::GroupPtr process_group(lua_State* L, int index, std::string_view function) {
  if (lua_isnoneornil(L, index)) return nullptr;
  return object_argument<RankGroup>(L, index, {function, "process_group"}).shared_from_this();
}

int sync_batch_norm(lua_State* L) {
  const NamedArguments named(L, kSyncBatchNorm);
  constexpr std::string_view kNames[] = {
      "affine", "device", "dtype", "eps", "momentum", "process_group", "track_running_stats"};
  named.check_names(kNames);
  const std::int64_t features = integer_argument(L, 1, {kSyncBatchNorm, "num_features"});
  const nn::BatchNormOptions options{named.number("eps", 1e-5), named.number("momentum", 0.1),
                                     named.boolean("affine", true),
                                     named.boolean("track_running_stats", true)};
  const nn::ParameterOptions parameters{named.device("device", Device::cpu()),
                                        named.dtype("dtype", DType::float32)};
  if (!named.push("process_group")) lua_pushnil(L);
  push_module(L, std::make_shared<parallel::SyncBatchNorm>(features, options, parameters,
                                                           process_group(L, -1, kSyncBatchNorm)));
  return 1;
}

// convert_sync_batchnorm(module [, process_group])
int convert_sync_batchnorm(lua_State* L) {
  constexpr std::string_view kName = "convert_sync_batchnorm";
  push_module(L, parallel::convert_sync_batchnorm(module_argument(L, 1, {kName, "module"}),
                                                  process_group(L, 2, kName)));
  return 1;
}

constexpr luaL_Reg kDataParallelFunctions[] = {
    {"DataParallel", native<data_parallel>},
    {"DataParallelCriterion", native<data_parallel_criterion>},
    {"SyncBatchNorm", native<sync_batch_norm>},
    {"convert_sync_batchnorm", native<convert_sync_batchnorm>},
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

constexpr luaL_Reg kDistributedFunctions[] = {{"spawn", native<spawn>}};

}  // namespace

std::span<const luaL_Reg> data_parallel_functions() { return kDataParallelFunctions; }
std::span<const luaL_Reg> distributed_module_functions() { return kDistributedModuleFunctions; }
std::span<const luaL_Reg> distributed_functions() { return kDistributedFunctions; }

}  // namespace ohm::lua
