// CUDA's runtime: streams, events, capture. All work is complete when it is asked for, but
// for what work_in_flight.h keeps from being so.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/graph_parameters.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/work_in_flight.h"

using namespace ohm::interpose;

namespace {

/// What two events are apart: anything but 0, by which programs divide.
constexpr float kElapsedMilliseconds = 1.0F;
constexpr unsigned kNonBlocking = 1;
constexpr int kGreatestPriority = -5;

// Flags of events.
constexpr unsigned kDisableTiming = 2;
constexpr unsigned kInterprocess = 4;
constexpr unsigned kEventFlags = 7;

int device_of(const Stream* stream) {
  return is_default(stream) ? gpus().current() : stream->device;
}

/// Whether it was last recorded into a capture that goes on.
bool is_captured(const Event& event) {
  const Capture* const capture = event.capture;
  return capture != nullptr && capture->is_active;
}

/// cudaStreamCaptureStatus.
int capture_status(const Capture* capture) {
  constexpr int kActive = 1;
  constexpr int kInvalidated = 2;
  if (capture == nullptr) return 0;
  return capture->is_invalid ? kInvalidated : kActive;
}

/// Nobody can tell when it will be complete.
Status asked_during_capture(const Event& event) {
  event.capture.load()->is_invalid = true;
  return Status::captured_event;
}

}  // namespace

OHM_EXPORTED Status cudaStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
  OHM_RUNTIME_CALL;
  if (stream == nullptr || flags > kNonBlocking) return noted(Status::invalid_value);
  *stream = create_stream(gpus().current(), flags, std::clamp(priority, kGreatestPriority, 0));
  return *stream != nullptr ? Status::success : noted(Status::out_of_memory);
}

OHM_EXPORTED Status cudaStreamCreateWithFlags(Stream** stream, unsigned flags) {
  OHM_RUNTIME_CALL;
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

OHM_EXPORTED Status cudaStreamCreate(Stream** stream) {
  OHM_RUNTIME_CALL;
  return cudaStreamCreateWithPriority(stream, 0, 0);
}

OHM_EXPORTED Status cudaStreamDestroy(Stream* stream) {
  OHM_RUNTIME_CALL;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  note_destroyed(stream);
  return streams().destroy(stream) ? Status::success : noted(Status::invalid_handle);
}

OHM_EXPORTED Status cudaStreamGetPriority(Stream* stream, int* priority) {
  OHM_RUNTIME_CALL;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (priority == nullptr) return noted(Status::invalid_value);
  *priority = is_default(stream) ? 0 : stream->priority;
  return Status::success;
}

OHM_EXPORTED Status cudaStreamGetFlags(Stream* stream, unsigned* flags) {
  OHM_RUNTIME_CALL;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (flags == nullptr) return noted(Status::invalid_value);
  *flags = is_default(stream) ? 0 : stream->flags;
  return Status::success;
}

OHM_EXPORTED Status cudaStreamGetId(Stream* stream, std::uint64_t* id) {
  OHM_RUNTIME_CALL;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (id == nullptr) return noted(Status::invalid_value);
  *id = is_default(stream) ? reinterpret_cast<std::uintptr_t>(stream) : stream->id;
  return Status::success;
}

OHM_EXPORTED Status cudaStreamGetDevice(Stream* stream, int* device) {
  OHM_RUNTIME_CALL;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (device == nullptr) return noted(Status::invalid_value);
  *device = device_of(stream);
  return Status::success;
}

OHM_EXPORTED Status cudaStreamWaitEvent(Stream* stream, Event* event, unsigned flags) {
  OHM_RUNTIME_CALL;
  constexpr unsigned kExternal = 1;
  if (flags > kExternal) return noted(Status::invalid_value);
  if (!is_stream(stream) || !events().is_alive(event)) return noted(Status::invalid_handle);
  if (is_captured(*event) && !is_default(stream)) join_capture(stream, *event);
  if (capture_of(stream) == nullptr) note_ordered(stream, *event);
  return Status::success;
}

OHM_EXPORTED Status cudaStreamSynchronize(Stream* stream) {
  OHM_RUNTIME_CALL;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  Capture* const capture = capture_of(stream);
  if (capture == nullptr) {
    note_waited(stream);
    gpus().trim_pools();
    return Status::success;
  }
  capture->is_invalid = true;
  return noted(Status::capture_not_allowed);
}

OHM_EXPORTED Status cudaStreamQuery(Stream* stream) {
  OHM_RUNTIME_CALL;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (Capture* const capture = capture_of(stream)) {
    capture->is_invalid = true;
    return noted(Status::capture_not_allowed);
  }
  return is_finished(stream) ? Status::success : noted(Status::not_ready);
}

/// It is called at once: what comes before it is waited for.
OHM_EXPORTED Status cudaLaunchHostFunc(Stream* stream, HostFunction function, void* data) {
  OHM_RUNTIME_CALL;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (function == nullptr) return noted(Status::invalid_value);
  if (capture_of(stream) != nullptr) {
    const HostParameters called = {function, data};
    GraphNode* const node =
        capture_work(stream, NodeType::host, work_of(NodeParameters::of(called)));
    if (node == nullptr) return noted(Status::out_of_memory);
    node->given = std::make_shared<NodeParameters>(NodeParameters::of(called));
  } else {
    note_waited(stream);
    call_host_function(function, data);
  }
  return Status::success;
}

OHM_EXPORTED Status cudaStreamAddCallback(Stream* stream, StreamCallback callback, void* data,
                                          unsigned flags) {
  OHM_RUNTIME_CALL;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (callback == nullptr || flags != 0) return noted(Status::invalid_value);
  if (Capture* const capture = capture_of(stream)) {
    capture->is_invalid = true;
    return noted(Status::capture_not_allowed);
  }
  note_waited(stream);
  call_stream_callback(callback, stream, data);
  return Status::success;
}

OHM_EXPORTED Status cudaEventCreateWithFlags(Event** event, unsigned flags) {
  OHM_RUNTIME_CALL;
  const bool needs_no_timing = (flags & kInterprocess) != 0 && (flags & kDisableTiming) == 0;
  if (event == nullptr || flags > kEventFlags || needs_no_timing) {
    return noted(Status::invalid_value);
  }
  *event = events().create();
  if (*event == nullptr) return noted(Status::out_of_memory);
  (*event)->device = gpus().current();
  (*event)->has_timing = (flags & kDisableTiming) == 0;
  return Status::success;
}

OHM_EXPORTED Status cudaEventCreate(Event** event) {
  OHM_RUNTIME_CALL;
  return cudaEventCreateWithFlags(event, 0);
}

OHM_EXPORTED Status cudaEventDestroy(Event* event) {
  OHM_RUNTIME_CALL;
  return events().destroy(event) ? Status::success : noted(Status::invalid_handle);
}

OHM_EXPORTED Status cudaEventRecord(Event* event, Stream* stream) {
  OHM_RUNTIME_CALL;
  if (!events().is_alive(event) || !is_stream(stream)) return noted(Status::invalid_handle);
  if (event->device != device_of(stream)) return noted(Status::invalid_handle);
  event->capture = capture_of(stream);
  event->is_recorded = true;
  event->captured = event->capture != nullptr ? stream->captured : std::vector<GraphNode*>();
  if (event->capture == nullptr) {
    note_recorded(*event, stream);
  } else {
    note_captured(*event);
  }
  return Status::success;
}

OHM_EXPORTED Status cudaEventRecordWithFlags(Event* event, Stream* stream, unsigned flags) {
  OHM_RUNTIME_CALL;
  constexpr unsigned kExternal = 1;
  if (flags > kExternal) return noted(Status::invalid_value);
  return cudaEventRecord(event, stream);
}

/// What was never recorded is complete.
OHM_EXPORTED Status cudaEventQuery(Event* event) {
  OHM_RUNTIME_CALL;
  if (!events().is_alive(event)) return noted(Status::invalid_handle);
  if (is_captured(*event)) return noted(asked_during_capture(*event));
  return is_finished(*event) ? Status::success : noted(Status::not_ready);
}

OHM_EXPORTED Status cudaEventSynchronize(Event* event) {
  OHM_RUNTIME_CALL;
  if (!events().is_alive(event)) return noted(Status::invalid_handle);
  if (is_captured(*event)) return noted(asked_during_capture(*event));
  note_waited(*event);
  gpus().trim_pools();
  return Status::success;
}

OHM_EXPORTED Status cudaEventElapsedTime(float* milliseconds, Event* begin, Event* end) {
  OHM_RUNTIME_CALL;
  if (milliseconds == nullptr) return noted(Status::invalid_value);
  for (const Event* event : {begin, end}) {
    const bool has_time = events().is_alive(event) && event->has_timing && event->is_recorded;
    if (!has_time) return noted(Status::invalid_handle);
  }
  if (begin->device != end->device) return noted(Status::invalid_handle);
  if (!is_finished(*begin) || !is_finished(*end)) return noted(Status::not_ready);
  *milliseconds = kElapsedMilliseconds;
  return Status::success;
}

OHM_EXPORTED Status cudaStreamIsCapturing(Stream* stream, int* status) {
  OHM_RUNTIME_CALL;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (status == nullptr) return noted(Status::invalid_value);
  *status = capture_status(capture_of(stream));
  return Status::success;
}

OHM_EXPORTED Status cudaStreamGetCaptureInfo_v2(Stream* stream, int* status, std::uint64_t* id,
                                                Graph** graph, void* const** dependencies,
                                                std::size_t* count) {
  OHM_RUNTIME_CALL;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (status == nullptr) return noted(Status::invalid_value);
  const Capture* capture = capture_of(stream);
  *status = capture_status(capture);
  if (id != nullptr) *id = capture != nullptr ? capture->id : 0;
  if (graph != nullptr) *graph = capture != nullptr ? capture->graph : nullptr;
  static const std::vector<GraphNode*> kNone;
  const std::vector<GraphNode*>& before = capture != nullptr ? stream->captured : kNone;
  if (dependencies != nullptr) {
    *dependencies = reinterpret_cast<void* const*>(before.empty() ? nullptr : before.data());
  }
  if (count != nullptr) *count = before.size();
  return Status::success;
}

OHM_EXPORTED Status cudaStreamGetCaptureInfo_v3(Stream* stream, int* status, std::uint64_t* id,
                                                Graph** graph, void* const** dependencies,
                                                const void** edges, std::size_t* count) {
  OHM_RUNTIME_CALL;
  if (edges != nullptr) *edges = nullptr;
  return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count);
}

/// CUDA 13's; CUDA 12's headers ask for the names above.
OHM_EXPORTED Status cudaStreamGetCaptureInfo(Stream* stream, int* status, std::uint64_t* id,
                                             Graph** graph, void* const** dependencies,
                                             const void** edges, std::size_t* count) {
  OHM_RUNTIME_CALL;
  return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, edges, count);
}

OHM_VERSION(update_dependencies_12, cudaStreamUpdateCaptureDependencies, "libcudart.so.12")
Status update_dependencies_12(Stream* stream, GraphNode* const* nodes, std::size_t count,
                              unsigned flags) {
  OHM_RUNTIME_CALL_OF("cudaStreamUpdateCaptureDependencies");
  constexpr unsigned kReplaces = 1;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  const Capture* const capture = capture_of(stream);
  if (capture == nullptr) return noted(Status::illegal_state);
  if (flags > kReplaces || (nodes == nullptr && count != 0)) return noted(Status::invalid_value);
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_here = graph_nodes().is_alive(nodes[i]) && nodes[i]->graph == capture->graph;
    if (!is_here) return noted(Status::invalid_value);
  }
  if (flags == kReplaces) stream->captured.clear();
  for (std::size_t i = 0; i < count; ++i) {
    const auto& known = stream->captured;
    const bool is_new = std::find(known.begin(), known.end(), nodes[i]) == known.end();
    if (is_new) stream->captured.push_back(nodes[i]);
  }
  return Status::success;
}

/// What the stream's next node depends on.
OHM_DEFAULT_VERSION(update_dependencies_13, cudaStreamUpdateCaptureDependencies, "libcudart.so.13")
Status update_dependencies_13(Stream* stream, GraphNode* const* nodes, const void* /*edges*/,
                              std::size_t count, unsigned flags) {
  return update_dependencies_12(stream, nodes, count, flags);
}

OHM_EXPORTED Status cudaStreamBeginCapture(Stream* stream, int mode) {
  OHM_RUNTIME_CALL;
  constexpr int kRelaxed = 2;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (mode < 0 || mode > kRelaxed) return noted(Status::invalid_value);
  if (is_default(stream)) return noted(Status::capture_not_allowed);
  if (capture_of(stream) != nullptr) return noted(Status::illegal_state);
  stream->captured.clear();
  stream->capture = begin_capture(stream, static_cast<CaptureMode>(mode));
  return Status::success;
}

OHM_EXPORTED Status cudaStreamBeginCaptureToGraph(Stream* stream, Graph* graph,
                                                  const void* /*dependencies*/,
                                                  const void* /*edges*/, std::size_t /*count*/,
                                                  int mode) {
  OHM_RUNTIME_CALL;
  if (!graphs().is_alive(graph)) return noted(Status::invalid_value);
  const Status status = cudaStreamBeginCapture(stream, mode);
  if (status != Status::success) return status;
  Capture* capture = stream->capture;
  graphs().destroy(capture->graph);
  capture->graph = graph;
  return Status::success;
}

OHM_EXPORTED Status cudaStreamEndCapture(Stream* stream, Graph** graph) {
  OHM_RUNTIME_CALL;
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (graph == nullptr) return noted(Status::invalid_value);
  Capture* capture = capture_of(stream);
  if (capture == nullptr) return noted(Status::illegal_state);
  if (capture->origin != stream) return noted(Status::capture_unmatched);
  const bool is_joined = are_forks_joined(*capture);
  end_capture(*capture);
  stream->capture = nullptr;
  if (capture->is_invalid || !is_joined) {
    graphs().destroy(capture->graph);
    *graph = nullptr;
    return noted(capture->is_invalid ? Status::capture_invalidated : Status::capture_unjoined);
  }
  *graph = capture->graph;
  return Status::success;
}

OHM_EXPORTED Status cudaThreadExchangeStreamCaptureMode(int* mode) {
  OHM_RUNTIME_CALL;
  const bool is_mode =
      mode != nullptr && *mode >= 0 && *mode <= static_cast<int>(CaptureMode::relaxed);
  if (!is_mode) return noted(Status::invalid_value);
  CaptureMode& current = capture_mode_of_thread();
  *mode = static_cast<int>(std::exchange(current, static_cast<CaptureMode>(*mode)));
  return Status::success;
}
