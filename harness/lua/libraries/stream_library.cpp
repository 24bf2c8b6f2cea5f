#include "harness/lua/libraries/stream_library.h"

#include <fmt/format.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "harness/lua/bind/arguments.h"
#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/mode.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/libraries/stream_handle.h"
#include "runtime/tensor/context.h"
#include "runtime/tensor/cuda_graph.h"

namespace ohm::lua {

/// A point in a stream's work; before it was recorded it is complete.
struct Event {
  Device device;
  StreamId stream = kDefaultStream;
  StreamEvent number = 0;    ///< 0: it was not recorded
  bool is_captured = false;  ///< in a capture
};
using EventPtr = std::shared_ptr<Event>;

template <>
struct HandleOf<EventPtr> {
  static const HandleClass kClass;
};

namespace {

DeviceStreams& streams_of(Device device) { return *Context::current().slot(device).streams; }

Event& event_argument(lua_State* L, int index, const ArgumentName& name) {
  return object_argument<Event>(L, index, name);
}

int push_stream(lua_State* L, Device device, StreamId id) {
  push_handle<StreamPtr>(L, std::make_shared<const Stream>(Stream{device, id}));
  return 1;
}

Stream current_stream_of(Device device) {
  return {device, Context::current().state.streams.of(device)};
}

// The stream at `index`, or the current one of the current GPU.
Stream stream_or_current(lua_State* L, int index, const ArgumentName& name) {
  if (!lua_isnoneornil(L, index)) return stream_argument(L, index, name);
  return current_stream_of(Context::current().state.current_gpu);
}

Device gpu_argument(lua_State* L, int index, std::string_view function) {
  const Device current = Context::current().state.current_gpu;
  const Device device =
      lua_isnoneornil(L, index) ? current : device_argument(L, index, {function, "device"});
  if (device.is_cpu()) refuse_argument(L, index, {function, "device"}, "a GPU");
  Context::current().slot(device);  // refuses one that does not exist
  return device;
}

// ---- what streams and events do -----------------------------------------------------------------

void record(Event& event, const Stream& stream) {
  const bool is_captured = Context::current().slot(stream.device).pools->is_captured(stream.id);
  event = {stream.device, stream.id, streams_of(stream.device).record(stream.id), is_captured};
}

// Work queued on `stream` from now on comes behind the event. Between GPUs nothing waits: what one
// of them computes is there when the other one needs it.
void let_wait(const Stream& stream, const Event& event) {
  if (event.number == 0 || event.device != stream.device) return;
  CudaGraph* const graph = Context::current().slot(stream.device).capturing;
  if (event.is_captured && graph != nullptr) graph->join(stream.id);
  streams_of(stream.device).wait_for(stream.id, event.stream, event.number);
}

// ---- streams ------------------------------------------------------------------------------------

int stream_synchronize(lua_State* L) {
  const Stream& stream = stream_argument(L, 1, {"synchronize", "self"});
  refuse_in_capture(stream.device);
  streams_of(stream.device).synchronize(stream.id);
  return 0;
}

int stream_query(lua_State* L) {
  const Stream& stream = stream_argument(L, 1, {"query", "self"});
  Event now;
  record(now, stream);
  lua_pushboolean(L, streams_of(stream.device).is_complete(stream.id, now.number));
  return 1;
}

int wait_stream(lua_State* L) {
  const Stream& stream = stream_argument(L, 1, {"wait_stream", "self"});
  Event end;
  record(end, stream_argument(L, 2, {"wait_stream", "stream"}));
  let_wait(stream, end);
  return 0;
}

int wait_event(lua_State* L) {
  let_wait(stream_argument(L, 1, {"wait_event", "self"}),
           event_argument(L, 2, {"wait_event", "event"}));
  return 0;
}

// stream:record_event([event]): the event.
int record_event(lua_State* L) {
  const Stream& stream = stream_argument(L, 1, {"record_event", "self"});
  if (lua_isnoneornil(L, 2)) {
    lua_settop(L, 1);
    push_handle<EventPtr>(L, std::make_shared<Event>());
  }
  record(event_argument(L, 2, {"record_event", "event"}), stream);
  lua_settop(L, 2);
  return 1;
}

constexpr luaL_Reg kStreamMethods[] = {
    {"query", native<stream_query>},
    {"record_event", native<record_event>},
    {"synchronize", native<stream_synchronize>},
    {"wait_event", native<wait_event>},
    {"wait_stream", native<wait_stream>},
};

// ---- events -------------------------------------------------------------------------------------

int event_record(lua_State* L) {
  Event& event = event_argument(L, 1, {"record", "self"});
  record(event, stream_or_current(L, 2, {"record", "stream"}));
  return 0;
}

int event_wait(lua_State* L) {
  const Event& event = event_argument(L, 1, {"wait", "self"});
  let_wait(stream_or_current(L, 2, {"wait", "stream"}), event);
  return 0;
}

int event_synchronize(lua_State* L) {
  const Event& event = event_argument(L, 1, {"synchronize", "self"});
  if (event.number == 0) return 0;
  refuse_in_capture(event.device);
  streams_of(event.device).wait(event.stream, event.number);
  return 0;
}

int event_query(lua_State* L) {
  const Event& event = event_argument(L, 1, {"query", "self"});
  lua_pushboolean(
      L, event.number == 0 || streams_of(event.device).is_complete(event.stream, event.number));
  return 1;
}

constexpr luaL_Reg kEventMethods[] = {
    {"query", native<event_query>},
    {"record", native<event_record>},
    {"synchronize", native<event_synchronize>},
    {"wait", native<event_wait>},
};

// ---- fields -------------------------------------------------------------------------------------

int index_stream(lua_State* L) {
  const Stream& stream = stream_argument(L, 1, {"Stream", "self"});
  const std::string_view name = string_argument(L, 2, {"Stream", "name"});
  if (name == "device") return lua_pushstring(L, stream.device.str().c_str()), 1;
  if (name == "stream_id") return lua_pushinteger(L, stream.id), 1;
  return push_method(L, kStreamMethods, "Stream", {"device", "stream_id"});
}

int index_event(lua_State* L) { return push_method(L, kEventMethods, "Event"); }

int is_same_stream(lua_State* L) {
  const Stream& a = stream_argument(L, 1, {"Stream", "self"});
  const Stream& b = stream_argument(L, 2, {"Stream", "other"});
  lua_pushboolean(L, a.device == b.device && a.id == b.id);
  return 1;
}

int stream_text(lua_State* L) {
  const Stream& stream = stream_argument(L, 1, {"Stream", "self"});
  lua_pushstring(L, fmt::format("Stream({}, {})", stream.device.str(), stream.id).c_str());
  return 1;
}

int event_text(lua_State* L) {
  lua_pushstring(L, "Event()");
  return 1;
}

constexpr luaL_Reg kStreamMetamethods[] = {
    {"__eq", native<is_same_stream, Entry::access>},
    {"__index", native<index_stream, Entry::access>},
    {"__tostring", native<stream_text, Entry::access>},
};

constexpr luaL_Reg kEventMetamethods[] = {
    {"__index", native<index_event, Entry::access>},
    {"__tostring", native<event_text, Entry::access>},
};

// ---- functions ----------------------------------------------------------------------------------

// Stream([device] [, {device, priority}])
int make_stream(lua_State* L) {
  const NamedArguments named(L, "Stream");
  constexpr std::string_view kNames[] = {"device", "priority"};
  named.check_names(kNames);
  const int given = named.positional_count() > 0 ? 1 : named.push("device") ? lua_gettop(L) : 0;
  const Device device =
      given == 0 ? gpu_argument(L, lua_gettop(L) + 1, "Stream") : gpu_argument(L, given, "Stream");
  return push_stream(L, device, new_program_stream(device));
}

// Event([{enable_timing, blocking}]): nothing takes time here.
int make_event(lua_State* L) {
  const NamedArguments named(L, "Event");
  constexpr std::string_view kNames[] = {"blocking", "enable_timing", "interprocess"};
  named.check_names(kNames);
  push_handle<EventPtr>(L, std::make_shared<Event>());
  return 1;
}

int current_stream(lua_State* L) {
  const Stream stream = current_stream_of(gpu_argument(L, 1, "current_stream"));
  return push_stream(L, stream.device, stream.id);
}

int default_stream(lua_State* L) {
  return push_stream(L, gpu_argument(L, 1, "default_stream"), kDefaultStream);
}

int set_stream(lua_State* L) {
  const Stream& stream = stream_argument(L, 1, {"set_stream", "stream"});
  ExecutionState& state = Context::current().state;
  state.current_gpu = stream.device;
  state.streams.exchange(stream.device, stream.id);
  return 0;
}

/// A stream and its GPU are the current ones while it lives.
class StreamMode {
 public:
  explicit StreamMode(const Stream& stream)
      : gpu_(stream.device), stream_(stream.device, stream.id) {}

 private:
  GpuGuard gpu_;
  StreamGuard stream_;
};

// stream(s [, fn, …])
int on_stream(lua_State* L) {
  const ArgumentName name{"stream", "fn"};
  if (lua_isnil(L, 1)) return enter_mode(L, 2, name, std::make_shared<int>());
  return enter_mode(L, 2, name,
                    std::make_shared<StreamMode>(stream_argument(L, 1, {"stream", "stream"})));
}

// _sleep(cycles): work that lasts until the program waits for the current stream, however long.
int occupy_current_stream(lua_State* L) {
  integer_argument(L, 1, {"_sleep", "cycles"});
  const Stream stream = current_stream_of(Context::current().state.current_gpu);
  streams_of(stream.device).occupy(stream.id);
  return 0;
}

// x:record_stream(stream)
int record_stream(lua_State* L) {
  const Tensor& tensor = tensor_argument(L, 1, {"record_stream", "input"});
  const Stream& stream = stream_argument(L, 2, {"record_stream", "stream"});
  if (tensor.device() != stream.device) {
    throw std::invalid_argument(fmt::format("[record_stream] the tensor is on {}, the stream on {}",
                                            tensor.device().str(), stream.device.str()));
  }
  tensor.storage().record_stream(stream.id);
  return 0;
}

constexpr luaL_Reg kStreamTensorMethods[] = {{"record_stream", native<record_stream>}};

constexpr luaL_Reg kStreamFunctions[] = {
    {"Event", native<make_event>},
    {"Stream", native<make_stream>},
    {"_sleep", native<occupy_current_stream>},
    {"current_stream", native<current_stream>},
    {"default_stream", native<default_stream>},
    {"set_stream", native<set_stream>},
    {"stream", native<on_stream>},
};

}  // namespace

const HandleClass HandleOf<StreamPtr>::kClass = {"stream", kStreamMetamethods};
const HandleClass HandleOf<EventPtr>::kClass = {"event", kEventMetamethods};

std::span<const luaL_Reg> stream_functions() { return kStreamFunctions; }
std::span<const luaL_Reg> tensor_stream_methods() { return kStreamTensorMethods; }

}  // namespace ohm::lua
