#include "harness/lua/libraries/cuda_graph_library.h"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/mode.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/libraries/object_library.h"
#include "harness/lua/libraries/stream_handle.h"
#include "runtime/tensor/context.h"
#include "runtime/tensor/cuda_graph.h"

namespace ohm::lua {

using GraphPtr = std::shared_ptr<CudaGraph>;
using MemoryPoolPtr = std::shared_ptr<MemoryPool>;

template <>
struct HandleOf<GraphPtr> {
  static const HandleClass kClass;
};
template <>
struct HandleOf<MemoryPoolPtr> {
  static const HandleClass kClass;
};

namespace {

// ---- pool ids: {graph's number, pool's number} --------------------------------------------------

int push_pool_id(lua_State* L, PoolId id) {
  lua_createtable(L, 2, 0);
  for (int i = 0; i < 2; ++i) {
    lua_pushinteger(L, id[static_cast<std::size_t>(i)]);
    lua_rawseti(L, -2, i + 1);
  }
  return 1;
}

PoolId pool_id_argument(lua_State* L, int index, const ArgumentName& name) {
  const Shape id = sizes_argument(L, index, name);
  if (id.dims() != 2) refuse_argument(L, index, name, "a pool, as pool() gives it");
  return {id[0], id[1]};
}

// ---- graphs -------------------------------------------------------------------------------------

CudaGraph& graph_argument(lua_State* L, std::string_view function) {
  return object_argument<CudaGraph>(L, 1, {function, "self"});
}

int make_graph(lua_State* L) {
  push_handle<GraphPtr>(L, std::make_shared<CudaGraph>());
  return 1;
}

// The argument called `name` of the options, or what stands at `index`.
bool push_option(lua_State* L, const NamedArguments& named, int index, std::string_view name) {
  if (named.positional_count() < index) return named.push(name);
  if (lua_isnil(L, index)) return false;
  lua_pushvalue(L, index);
  return true;
}

// g:capture_begin([pool] [, {pool, capture_error_mode}])
int graph_capture_begin(lua_State* L) {
  constexpr std::string_view kFunction = "capture_begin";
  CudaGraph& graph = graph_argument(L, kFunction);
  const NamedArguments named(L, kFunction);
  constexpr std::string_view kNames[] = {"capture_error_mode", "pool"};
  named.check_names(kNames);
  std::optional<PoolId> pool;
  if (push_option(L, named, 2, "pool")) pool = pool_id_argument(L, -1, {kFunction, "pool"});
  graph.capture_begin(pool);
  return 0;
}

int graph_capture_end(lua_State* L) {
  graph_argument(L, "capture_end").capture_end();
  return 0;
}

int graph_pool(lua_State* L) { return push_pool_id(L, graph_argument(L, "pool").pool()); }

int graph_replay(lua_State* L) {
  graph_argument(L, "replay").replay();
  return 0;
}

int graph_reset(lua_State* L) {
  graph_argument(L, "reset").reset();
  return 0;
}

constexpr luaL_Reg kGraphMethods[] = {
    {"capture_begin", native<graph_capture_begin>},
    {"capture_end", native<graph_capture_end>},
    {"pool", native<graph_pool>},
    {"replay", native<graph_replay>},
    {"reset", native<graph_reset>},
};

int index_graph(lua_State* L) { return push_method(L, kGraphMethods, "CUDAGraph"); }

int graph_text(lua_State* L) {
  lua_pushstring(L, "CUDAGraph()");
  return 1;
}

constexpr luaL_Reg kGraphMetamethods[] = {
    {"__index", native<index_graph, Entry::access>},
    {"__tostring", native<graph_text, Entry::access>},
};

int graph_pool_handle(lua_State* L) {
  const Device device = Context::current().state.current_gpu;
  return push_pool_id(L, Context::current().slot(device).pools->next_graph_pool_id());
}

int is_current_stream_capturing(lua_State* L) {
  const ExecutionState& state = Context::current().state;
  const PrivatePools& pools = *Context::current().slot(state.current_gpu).pools;
  lua_pushboolean(L, pools.is_captured(state.streams.of(state.current_gpu)));
  return 1;
}

/// What runs while it lives is captured.
class CaptureMode {
 public:
  CaptureMode(GraphPtr graph, std::optional<PoolId> pool, const Stream& stream)
      : gpu_(stream.device), stream_(stream.device, stream.id), graph_(std::move(graph)) {
    graph_->capture_begin(pool);
  }
  ~CaptureMode() {
    if (graph_->is_capturing()) graph_->capture_end();
  }
  CaptureMode(const CaptureMode&) = delete;
  CaptureMode& operator=(const CaptureMode&) = delete;

 private:
  GpuGuard gpu_;
  StreamGuard stream_;
  GraphPtr graph_;
};

Stream default_capture_stream() {
  const Device device = Context::current().state.current_gpu;
  std::optional<StreamId>& stream = Context::current().slot(device).capture_stream;
  if (!stream) stream = new_program_stream(device);
  return {device, *stream};
}

// PyTorch's own steps before a capture.
void make_room_for_capture(lua_State* L) {
  Context& context = Context::current();
  context.slot(context.state.current_gpu).streams->synchronize_all();
  if (!context.rules.has_later_private_pools) collect_cycles(L);
  for (const DeviceSlot& gpu : context.gpus) gpu.allocator->empty_cache();
}

// graph(g [, {pool, stream, capture_error_mode}] [, fn, …])
int capture_graph(lua_State* L) {
  constexpr std::string_view kFunction = "graph";
  const auto* const graph = test_object<CudaGraph>(L, 1);
  if (graph == nullptr) refuse_argument(L, 1, {kFunction, "cuda_graph"}, "of type CUDAGraph");
  const int options = lua_istable(L, 2) ? 2 : 0;
  const NamedArguments named(L, kFunction, options);
  constexpr std::string_view kNames[] = {"capture_error_mode", "pool", "stream"};
  named.check_names(kNames);
  std::optional<PoolId> pool;
  if (named.push("pool")) {
    pool = pool_id_argument(L, -1, {kFunction, "pool"});
    lua_pop(L, 1);
  }
  const bool has_stream = named.push("stream");
  const Stream stream =
      has_stream ? stream_argument(L, -1, {kFunction, "stream"}) : default_capture_stream();
  if (has_stream) lua_pop(L, 1);
  make_room_for_capture(L);
  return enter_mode(L, options == 0 ? 2 : 3, {kFunction, "fn"},
                    std::make_shared<CaptureMode>(*graph, pool, stream));
}

// ---- memory pools -------------------------------------------------------------------------------

int make_memory_pool(lua_State* L) {
  push_handle<MemoryPoolPtr>(L, std::make_shared<MemoryPool>());
  return 1;
}

int index_memory_pool(lua_State* L) {
  const MemoryPool& pool = object_argument<MemoryPool>(L, 1, {"MemPool", "self"});
  if (string_argument(L, 2, {"MemPool", "name"}) == "id") return push_pool_id(L, pool.id());
  return push_method(L, {}, "MemPool", {"id"});
}

int memory_pool_text(lua_State* L) {
  lua_pushstring(L, "MemPool()");
  return 1;
}

constexpr luaL_Reg kMemoryPoolMetamethods[] = {
    {"__index", native<index_memory_pool, Entry::access>},
    {"__tostring", native<memory_pool_text, Entry::access>},
};

/// The pool serves all requests of its GPU while it lives.
class MemoryPoolMode {
 public:
  MemoryPoolMode(MemoryPoolPtr pool, Interpreter& script)
      : pool_(std::move(pool)), script_(script.self()) {
    pool_->begin_use();
    ++script.settings.memory_pools_in_use;
  }
  ~MemoryPoolMode() {
    pool_->end_use();
    if (const auto script = script_.lock()) --(*script)->settings.memory_pools_in_use;
  }
  MemoryPoolMode(const MemoryPoolMode&) = delete;
  MemoryPoolMode& operator=(const MemoryPoolMode&) = delete;

 private:
  MemoryPoolPtr pool_;
  std::weak_ptr<Interpreter* const> script_;
};

// use_mem_pool(pool [, fn, …])
int use_memory_pool(lua_State* L) {
  const auto* const pool = test_object<MemoryPool>(L, 1);
  if (pool == nullptr) refuse_argument(L, 1, {"use_mem_pool", "pool"}, "of type MemPool");
  return enter_mode(L, 2, {"use_mem_pool", "fn"},
                    std::make_shared<MemoryPoolMode>(*pool, Interpreter::of(L)));
}

constexpr luaL_Reg kCudaGraphFunctions[] = {
    {"CUDAGraph", native<make_graph>},
    {"MemPool", native<make_memory_pool>},
    {"graph", native<capture_graph>},
    {"graph_pool_handle", native<graph_pool_handle>},
    {"is_current_stream_capturing", native<is_current_stream_capturing>},
    {"use_mem_pool", native<use_memory_pool>},
};

}  // namespace

const HandleClass HandleOf<GraphPtr>::kClass = {"CUDAGraph", kGraphMetamethods};
const HandleClass HandleOf<MemoryPoolPtr>::kClass = {"MemPool", kMemoryPoolMetamethods};

std::span<const luaL_Reg> cuda_graph_functions() { return kCudaGraphFunctions; }

}  // namespace ohm::lua
