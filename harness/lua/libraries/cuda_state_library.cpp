#include "harness/lua/libraries/cuda_state_library.h"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/mode.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/interpreter.h"
#include "harness/lua/vm/push_text.h"
#include "harness/machine/machine.h"
#include "harness/scenario/scenario_program.h"
#include "runtime/tensor/context.h"

namespace ohm::lua {
namespace {

Device gpu_at(lua_State* L, int index, std::string_view function) {
  const Device device = lua_isnoneornil(L, index) ? Context::current().state.current_gpu
                                                  : device_argument(L, index, {function, "device"});
  if (device.is_cpu()) {
    throw std::invalid_argument(
        fmt::format("[{}] argument 'device' must be a GPU, got cpu", function));
  }
  Context::current().slot(device);  // refuses one that does not exist
  return device;
}

engine::Machine& machine_of(lua_State* L, std::string_view function) {
  engine::RunContext* const run = Interpreter::of(L).run;
  if (run == nullptr) {
    throw std::invalid_argument(
        fmt::format("[{}] there are no GPUs yet: call it in a variant's function", function));
  }
  return run->machine();
}

// ---- memory -------------------------------------------------------------------------------------

// "a.b.c" = value: in the table a, in its table b, as the field c.
void set_nested(lua_State* L, int table, std::string_view path, std::int64_t value) {
  lua_pushvalue(L, table);
  for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    const std::string name(path.substr(0, dot));
    path.remove_prefix(dot + 1);
    if (lua_getfield(L, -1, name.c_str()) == LUA_TNIL) {
      lua_pop(L, 1);
      lua_newtable(L);
      lua_pushvalue(L, -1);
      lua_setfield(L, -3, name.c_str());
    }
    lua_remove(L, -2);
  }
  lua_pushinteger(L, value);
  lua_setfield(L, -2, std::string(path).c_str());
  lua_pop(L, 1);
}

int memory_stats_as_nested_dict(lua_State* L) {
  const Device gpu = gpu_at(L, 1, "memory_stats_as_nested_dict");
  const MemoryStats& stats = Context::current().slot(gpu).allocator->stats();
  lua_newtable(L);
  const int table = lua_gettop(L);
  for (const auto& [name, value] : stats.flatten()) set_nested(L, table, name, value);
  return 1;
}

void set_bytes(lua_State* L, const char* name, std::uint64_t bytes) {
  lua_pushinteger(L, static_cast<lua_Integer>(bytes));
  lua_setfield(L, -2, name);
}

void set_text(lua_State* L, const char* name, std::string_view text) {
  push_text(L, text);
  lua_setfield(L, -2, name);
}

void push_block(lua_State* L, const BlockView& block) {
  lua_newtable(L);
  set_bytes(L, "address", block.address);
  set_bytes(L, "size", block.bytes);
  set_bytes(L, "requested_size", block.requested_bytes);
  set_text(L, "state", name_of(block.state));
}

void push_segment(lua_State* L, const SegmentView& segment, int gpu) {
  std::size_t allocated_bytes = 0;
  std::size_t active_bytes = 0;
  std::size_t requested_bytes = 0;
  lua_newtable(L);
  lua_createtable(L, static_cast<int>(segment.blocks.size()), 0);
  lua_Integer count = 0;
  for (const BlockView& block : segment.blocks) {
    const bool is_active = block.state != BlockView::State::inactive;
    if (block.state == BlockView::State::active_allocated) allocated_bytes += block.bytes;
    if (is_active) active_bytes += block.bytes;
    if (is_active) requested_bytes += block.requested_bytes;
    push_block(L, block);
    lua_rawseti(L, -2, ++count);
  }
  lua_setfield(L, -2, "blocks");
  set_bytes(L, "device", static_cast<std::uint64_t>(gpu));
  set_bytes(L, "address", segment.address);
  set_bytes(L, "total_size", segment.bytes);
  set_bytes(L, "allocated_size", allocated_bytes);
  set_bytes(L, "active_size", active_bytes);
  set_bytes(L, "requested_size", requested_bytes);
  set_bytes(L, "stream", segment.stream);
  set_text(L, "segment_type", segment.is_small ? "small" : "large");
  lua_pushboolean(L, segment.is_expandable ? 1 : 0);
  lua_setfield(L, -2, "is_expandable");
}

// memory_snapshot(): the segments of all GPUs.
int memory_snapshot(lua_State* L) {
  engine::Machine& machine = machine_of(L, "memory_snapshot");
  lua_newtable(L);
  lua_Integer count = 0;
  for (std::size_t gpu = 0; gpu < Context::current().gpus.size(); ++gpu) {
    const int index = static_cast<int>(gpu);
    for (const SegmentView& segment : machine.caching_allocator(index).segments()) {
      push_segment(L, segment, index);
      lua_rawseti(L, -2, ++count);
    }
  }
  return 1;
}

int get_allocator_backend(lua_State* L) {
  push_text(L, "native");
  return 1;
}

// ---- devices ------------------------------------------------------------------------------------

int get_device_name(lua_State* L) {
  const Device gpu = gpu_at(L, 1, "get_device_name");
  push_text(L, machine_of(L, "get_device_name").profile(gpu.index).name);
  return 1;
}

// device(index or tensor's device [, fn, …]): the current GPU in the call.
int device_mode(lua_State* L) {
  const ArgumentName name{"device", "fn"};
  if (lua_isnil(L, 1)) return enter_mode(L, 2, name, std::make_shared<int>());
  return enter_mode(L, 2, name, std::make_shared<GpuGuard>(gpu_at(L, 1, "device")));
}

// device_of(tensor [, fn, …]): nothing changes where the tensor is on no GPU.
int device_of(lua_State* L) {
  const ArgumentName name{"device_of", "fn"};
  const Device device = tensor_argument(L, 1, {"device_of", "obj"}).device();
  if (device.is_cpu()) return enter_mode(L, 2, name, std::make_shared<int>());
  return enter_mode(L, 2, name, std::make_shared<GpuGuard>(device));
}

// Of the current GPU alone.
int seed_current_gpu(lua_State* L) {
  const auto seed = static_cast<std::uint64_t>(integer_argument(L, 1, {"manual_seed", "seed"}));
  Context::current().slot(Context::current().state.current_gpu).seed(seed);
  return 0;
}

int initial_seed_of_gpu(lua_State* L) {
  const Device gpu = gpu_at(L, 1, "initial_seed");
  lua_pushinteger(L, static_cast<lua_Integer>(Context::current().slot(gpu).generator.seed));
  return 1;
}

// What there is from the beginning: a GPU that is initialized, nothing to be collected.
int do_nothing(lua_State* /*L*/) { return 0; }

int is_initialized(lua_State* L) {
  lua_pushboolean(L, Context::current().gpus.empty() ? 0 : 1);
  return 1;
}

int is_bf16_supported(lua_State* L) {
  constexpr int kAmpere = 8;
  const Device gpu = Context::current().state.current_gpu;
  const bool is_recent = Context::current().slot(gpu).compute_capability[0] >= kAmpere;
  lua_pushboolean(L, is_recent ? 1 : 0);
  return 1;
}

constexpr luaL_Reg kMemoryTables[] = {
    {"get_allocator_backend", native<get_allocator_backend>},
    {"memory_snapshot", native<memory_snapshot>},
    {"memory_stats_as_nested_dict", native<memory_stats_as_nested_dict>},
};

constexpr luaL_Reg kStateFunctions[] = {
    {"device", native<device_mode>},
    {"device_of", native<device_of>},
    {"get_device_name", native<get_device_name>},
    {"init", native<do_nothing>},
    {"initial_seed", native<initial_seed_of_gpu>},
    {"ipc_collect", native<do_nothing>},
    {"is_bf16_supported", native<is_bf16_supported>},
    {"is_initialized", native<is_initialized>},
    {"is_tf32_supported", native<is_bf16_supported>},
    {"manual_seed", native<seed_current_gpu>},
};

}  // namespace

std::span<const luaL_Reg> cuda_memory_tables() { return kMemoryTables; }
std::span<const luaL_Reg> cuda_state_functions() { return kStateFunctions; }

}  // namespace ohm::lua
