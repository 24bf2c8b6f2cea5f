#include "harness/lua/libraries/cuda_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "allocator_shim/observe/memory_summary.h"
#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/vm/interpreter.h"
#include "harness/lua/vm/push_text.h"
#include "harness/machine/machine.h"
#include "harness/scenario/scenario_program.h"
#include "runtime/tensor/context.h"
#include "runtime/tensor/cuda_graph.h"

namespace ohm::lua {
namespace {

Device gpu_argument(lua_State* L, std::string_view function, int index = 1) {
  const Device device = lua_isnoneornil(L, index) ? Context::current().state.current_gpu
                                                  : device_argument(L, index, {function, "device"});
  if (device.is_cpu()) {
    throw std::invalid_argument(
        fmt::format("[{}] argument 'device' must be a GPU, got cpu", function));
  }
  Context::current().slot(device);  // refuses one that does not exist
  return device;
}

RequestAllocator& allocator_argument(lua_State* L, std::string_view function) {
  return *Context::current().slot(gpu_argument(L, function)).allocator;
}

int push_bytes(lua_State* L, std::int64_t bytes) {
  lua_pushinteger(L, bytes);
  return 1;
}

// ---- counters -----------------------------------------------------------------------------------

int memory_allocated(lua_State* L) {
  return push_bytes(L,
                    allocator_argument(L, "memory_allocated").stats().allocated_bytes[0].current);
}

int max_memory_allocated(lua_State* L) {
  return push_bytes(L,
                    allocator_argument(L, "max_memory_allocated").stats().allocated_bytes[0].peak);
}

int memory_reserved(lua_State* L) {
  return push_bytes(L, allocator_argument(L, "memory_reserved").stats().reserved_bytes[0].current);
}

int max_memory_reserved(lua_State* L) {
  return push_bytes(L, allocator_argument(L, "max_memory_reserved").stats().reserved_bytes[0].peak);
}

int memory_stats(lua_State* L) {
  // The argument comes first: without one, a new table would stand in its place.
  const MemoryStats& stats = allocator_argument(L, "memory_stats").stats();
  lua_newtable(L);
  for (const auto& [name, value] : stats.flatten()) {
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name.c_str());
  }
  return 1;
}

// memory_summary([device [, abbreviated]] [, {device, abbreviated}])
int summary(lua_State* L) {
  constexpr std::string_view kSummaryName = "memory_summary";
  const NamedArguments named(L, kSummaryName);
  constexpr std::string_view kNames[] = {"abbreviated", "device"};
  named.check_names(kNames);
  const int given = named.positional_count();
  int device_at = 1;
  if (given == 0) {
    if (!named.push("device")) lua_pushnil(L);
    device_at = lua_gettop(L);
  }
  const Device device = gpu_argument(L, kSummaryName, device_at);
  const bool is_abbreviated = given > 1 ? boolean_argument(L, 2, {kSummaryName, "abbreviated"})
                                        : named.boolean("abbreviated", false);
  const std::string text =
      memory_summary(Context::current().slot(device).allocator->stats(), device.index,
                     is_abbreviated ? SummaryRows::abbreviated : SummaryRows::every_pool);
  push_text(L, text);
  return 1;
}

// Free and total bytes, as two values.
int mem_get_info(lua_State* L) {
  const DeviceMemoryInfo info = allocator_argument(L, "mem_get_info").info();
  lua_pushinteger(L, static_cast<lua_Integer>(info.free_bytes));
  lua_pushinteger(L, static_cast<lua_Integer>(info.total_bytes));
  return 2;
}

int reset_peak_memory_stats(lua_State* L) {
  allocator_argument(L, "reset_peak_memory_stats").reset_peak_stats();
  return 0;
}

int reset_accumulated_memory_stats(lua_State* L) {
  allocator_argument(L, "reset_accumulated_memory_stats").reset_accumulated_stats();
  return 0;
}

int empty_cache(lua_State* /*L*/) {
  const Context& context = Context::current();
  if (!context.rules.has_later_private_pools) refuse_in_capture(context.state.current_gpu);
  for (const DeviceSlot& gpu : context.gpus) gpu.allocator->empty_cache();
  return 0;
}

// ---- settings -----------------------------------------------------------------------------------

CachingAllocator& caching_allocator(lua_State* L, const Device& gpu, std::string_view function) {
  engine::RunContext* const run = Interpreter::of(L).run;
  if (run == nullptr) {
    throw std::invalid_argument(
        fmt::format("[{}] there are no GPUs yet: call it in a variant's function", function));
  }
  return run->machine().caching_allocator(gpu.index);
}

// set_per_process_memory_fraction(fraction [, device])
int set_per_process_memory_fraction(lua_State* L) {
  constexpr std::string_view kCudaName = "set_per_process_memory_fraction";
  const double fraction = number_argument(L, 1, {kCudaName, "fraction"});
  lua_remove(L, 1);
  const Device gpu = gpu_argument(L, kCudaName);
  try {
    caching_allocator(L, gpu, kCudaName).set_memory_fraction(fraction);
  } catch (const std::invalid_argument& wrong) {
    throw std::invalid_argument(fmt::format("[{}] {}", kCudaName, wrong.what()));
  }
  return 0;
}

// memory._set_allocator_settings(text): from now on, on every GPU.
int set_allocator_settings(lua_State* L) {
  constexpr std::string_view kCudaName = "_set_allocator_settings";
  const std::string text(string_argument(L, 1, {kCudaName, "settings"}));
  for (std::size_t index = 0; index < Context::current().gpus.size(); ++index) {
    const Device gpu = Device::cuda(static_cast<int>(index));
    caching_allocator(L, gpu, kCudaName).apply_settings(text);
  }
  return 0;
}

// The workspaces of all handles: each comes again when its handle is used next.
int clear_cublas_workspaces(lua_State* /*L*/) {
  for (DeviceSlot& gpu : Context::current().gpus) gpu.library_handles.release_workspaces();
  return 0;
}

// ---- devices ------------------------------------------------------------------------------------

int device_count(lua_State* L) {
  lua_pushinteger(L, static_cast<lua_Integer>(Context::current().gpus.size()));
  return 1;
}

int is_available(lua_State* L) {
  lua_pushboolean(L, !Context::current().gpus.empty());
  return 1;
}

int current_device(lua_State* L) {
  lua_pushinteger(L, Context::current().state.current_gpu.index);
  return 1;
}

// The compute capability: major and minor, as two values.
int get_device_capability(lua_State* L) {
  const DeviceSlot& slot = Context::current().slot(gpu_argument(L, "get_device_capability"));
  for (const int part : slot.compute_capability) lua_pushinteger(L, part);
  return 2;
}

int get_device_properties(lua_State* L) {
  const DeviceSlot& slot = Context::current().slot(gpu_argument(L, "get_device_properties"));
  const std::size_t capacity_bytes = slot.allocator->info().total_bytes;
  const std::pair<const char*, lua_Integer> properties[] = {
      {"major", slot.compute_capability[0]},
      {"max_threads_per_multi_processor", slot.threads_per_multiprocessor},
      {"minor", slot.compute_capability[1]},
      {"multi_processor_count", slot.multiprocessors},
      {"total_memory", static_cast<lua_Integer>(capacity_bytes)},
  };
  lua_newtable(L);
  for (const auto& [name, value] : properties) {
    lua_pushinteger(L, value);
    lua_setfield(L, -2, name);
  }
  return 1;
}

int set_device(lua_State* L) {
  if (lua_isnoneornil(L, 1)) refuse_argument(L, 1, {"set_device", "device"}, "a device");
  Context::current().state.current_gpu = gpu_argument(L, "set_device");
  return 0;
}

int synchronize(lua_State* L) {
  const Device gpu = gpu_argument(L, "synchronize");
  refuse_in_capture(gpu);
  Context::current().slot(gpu).streams->synchronize_all();
  Context::current().check_deferred_errors();
  return 0;
}

int manual_seed(lua_State* L) {
  const auto seed = static_cast<std::uint64_t>(integer_argument(L, 1, {"manual_seed", "seed"}));
  for (DeviceSlot& gpu : Context::current().gpus) gpu.seed(seed);
  return 0;
}

constexpr luaL_Reg kMemoryFunctions[] = {
    {"_set_allocator_settings", native<set_allocator_settings>},
    {"clear_cublas_workspaces", native<clear_cublas_workspaces>},
    {"empty_cache", native<empty_cache>},
    {"max_memory_allocated", native<max_memory_allocated>},
    {"max_memory_cached", native<max_memory_reserved>},
    {"max_memory_reserved", native<max_memory_reserved>},
    {"mem_get_info", native<mem_get_info>},
    {"memory_allocated", native<memory_allocated>},
    {"memory_cached", native<memory_reserved>},
    {"memory_reserved", native<memory_reserved>},
    {"memory_stats", native<memory_stats>},
    {"memory_summary", native<summary>},
    {"reset_accumulated_memory_stats", native<reset_accumulated_memory_stats>},
    {"reset_max_memory_allocated", native<reset_peak_memory_stats>},
    {"reset_max_memory_cached", native<reset_peak_memory_stats>},
    {"reset_peak_memory_stats", native<reset_peak_memory_stats>},
    {"set_per_process_memory_fraction", native<set_per_process_memory_fraction>},
};

constexpr luaL_Reg kDeviceFunctions[] = {
    {"current_device", native<current_device>},
    {"device_count", native<device_count>},
    {"get_device_capability", native<get_device_capability>},
    {"get_device_properties", native<get_device_properties>},
    {"is_available", native<is_available>},
    {"manual_seed_all", native<manual_seed>},
    {"set_device", native<set_device>},
    {"synchronize", native<synchronize>},
};

}  // namespace

std::span<const luaL_Reg> cuda_device_functions() { return kDeviceFunctions; }
std::span<const luaL_Reg> cuda_memory_functions() { return kMemoryFunctions; }

}  // namespace ohm::lua
