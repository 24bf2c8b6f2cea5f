// CUDA's runtime: streams, events, capture, graphs. All work is complete when it is asked for.
#include <cstdint>
#include <memory>

#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"

using namespace ohm::interpose;

namespace {

/// What two events are apart: anything but 0, by which programs divide.
constexpr float kElapsedMilliseconds = 1.0F;

}  // namespace

OHM_EXPORTED Status cudaStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
  *stream = create_stream(gpus().current(), flags, priority);
  return Status::success;
}

OHM_EXPORTED Status cudaStreamCreateWithFlags(Stream** stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

OHM_EXPORTED Status cudaStreamCreate(Stream** stream) {
  return cudaStreamCreateWithPriority(stream, 0, 0);
}

OHM_EXPORTED Status cudaStreamDestroy(Stream* stream) {
  if (is_default(stream)) return noted(Status::invalid_handle);
  const std::unique_ptr<Stream> owned(stream);
  return Status::success;
}

OHM_EXPORTED Status cudaStreamGetPriority(Stream* stream, int* priority) {
  *priority = is_default(stream) ? 0 : stream->priority;
  return Status::success;
}

OHM_EXPORTED Status cudaStreamGetFlags(Stream* stream, unsigned* flags) {
  *flags = is_default(stream) ? 0 : stream->flags;
  return Status::success;
}

OHM_EXPORTED Status cudaStreamGetId(Stream* stream, std::uint64_t* id) {
  *id = is_default(stream) ? reinterpret_cast<std::uintptr_t>(stream) : stream->id;
  return Status::success;
}

OHM_EXPORTED Status cudaStreamWaitEvent(Stream* stream, Event* event, unsigned /*flags*/) {
  Capture* capture = event == nullptr ? nullptr : event->capture.load();
  if (capture != nullptr && capture->is_active && !is_default(stream)) stream->capture = capture;
  return Status::success;
}

OHM_EXPORTED Status cudaStreamSynchronize(Stream* stream) {
  Capture* const capture = capture_of(stream);
  if (capture == nullptr) return Status::success;
  capture->is_invalid = true;
  return noted(Status::capture_not_allowed);
}

OHM_EXPORTED Status cudaLaunchHostFunc(Stream* stream, HostFunction function, void* data) {
  if (capture_of(stream) != nullptr) {
    note_work(stream);
  } else {
    function(data);
  }
  return Status::success;
}

OHM_EXPORTED Status cudaStreamAddCallback(Stream* stream, StreamCallback callback, void* data,
                                          unsigned /*flags*/) {
  callback(stream, Status::success, data);
  return Status::success;
}

OHM_EXPORTED Status cudaEventCreateWithFlags(Event** event, unsigned /*flags*/) {
  GpuSystem::of_process().initialize();
  *event = std::make_unique<Event>().release();
  return Status::success;
}

OHM_EXPORTED Status cudaEventCreate(Event** event) { return cudaEventCreateWithFlags(event, 0); }

OHM_EXPORTED Status cudaEventDestroy(Event* event) {
  const std::unique_ptr<Event> owned(event);
  return Status::success;
}

OHM_EXPORTED Status cudaEventRecord(Event* event, Stream* stream) {
  if (event == nullptr) return noted(Status::invalid_handle);
  event->capture = capture_of(stream);
  return Status::success;
}

OHM_EXPORTED Status cudaEventRecordWithFlags(Event* event, Stream* stream, unsigned /*flags*/) {
  return cudaEventRecord(event, stream);
}

OHM_EXPORTED Status cudaEventElapsedTime(float* milliseconds, Event* /*begin*/, Event* /*end*/) {
  *milliseconds = kElapsedMilliseconds;
  return Status::success;
}

OHM_EXPORTED Status cudaStreamIsCapturing(Stream* stream, int* status) {
  *status = capture_of(stream) != nullptr ? 1 : 0;
  return Status::success;
}

OHM_EXPORTED Status cudaStreamGetCaptureInfo_v2(Stream* stream, int* status, std::uint64_t* id,
                                                Graph** graph, void* const** dependencies,
                                                std::size_t* count) {
  const Capture* capture = capture_of(stream);
  *status = capture != nullptr ? 1 : 0;
  if (id != nullptr) *id = capture != nullptr ? capture->id : 0;
  if (graph != nullptr) *graph = capture != nullptr ? capture->graph : nullptr;
  if (dependencies != nullptr) *dependencies = nullptr;
  if (count != nullptr) *count = 0;
  return Status::success;
}

OHM_EXPORTED Status cudaStreamGetCaptureInfo_v3(Stream* stream, int* status, std::uint64_t* id,
                                                Graph** graph, void* const** dependencies,
                                                const void** edges, std::size_t* count) {
  if (edges != nullptr) *edges = nullptr;
  return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count);
}

/// CUDA 13's; CUDA 12's headers ask for the names above.
OHM_EXPORTED Status cudaStreamGetCaptureInfo(Stream* stream, int* status, std::uint64_t* id,
                                             Graph** graph, void* const** dependencies,
                                             const void** edges, std::size_t* count) {
  return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, edges, count);
}

OHM_EXPORTED Status cudaStreamBeginCapture(Stream* stream, int /*mode*/) {
  if (is_default(stream)) return noted(Status::capture_not_allowed);
  stream->capture = begin_capture();
  return Status::success;
}

OHM_EXPORTED Status cudaStreamBeginCaptureToGraph(Stream* stream, Graph* graph,
                                                  const void* /*dependencies*/,
                                                  const void* /*edges*/, std::size_t /*count*/,
                                                  int mode) {
  const Status status = cudaStreamBeginCapture(stream, mode);
  if (status != Status::success) return status;
  Capture* capture = stream->capture;
  const std::unique_ptr<Graph> unused(capture->graph);
  capture->graph = graph;
  return Status::success;
}

OHM_EXPORTED Status cudaStreamEndCapture(Stream* stream, Graph** graph) {
  Capture* capture = capture_of(stream);
  if (capture == nullptr) return noted(Status::capture_invalidated);
  capture->is_active = false;
  stream->capture = nullptr;
  if (capture->is_invalid) {
    const std::unique_ptr<Graph> unfinished(capture->graph);
    *graph = nullptr;
    return noted(Status::capture_invalidated);
  }
  *graph = capture->graph;
  return Status::success;
}

OHM_EXPORTED Status cudaThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int current = 0;
  std::swap(*mode, current);
  return Status::success;
}

OHM_EXPORTED Status cudaGraphCreate(Graph** graph, unsigned /*flags*/) {
  GpuSystem::of_process().initialize();
  *graph = std::make_unique<Graph>().release();
  return Status::success;
}

OHM_EXPORTED Status cudaGraphDestroy(Graph* graph) {
  const std::unique_ptr<Graph> owned(graph);
  return Status::success;
}

OHM_EXPORTED Status cudaGraphGetNodes(Graph* graph, void** nodes, std::size_t* count) {
  // Nodes have nothing to ask about: each is the graph.
  if (nodes != nullptr) std::fill_n(nodes, std::min(*count, graph->nodes), graph);
  *count = graph->nodes;
  return Status::success;
}

OHM_VERSION(node_dependencies_12, cudaGraphNodeGetDependencies, "libcudart.so.12")
Status node_dependencies_12(void* /*node*/, void** /*dependencies*/, std::size_t* count) {
  if (count != nullptr) *count = 0;
  return Status::success;
}

OHM_DEFAULT_VERSION(node_dependencies_13, cudaGraphNodeGetDependencies, "libcudart.so.13")
Status node_dependencies_13(void* /*node*/, void** /*dependencies*/, void* /*edges*/,
                            std::size_t* count) {
  if (count != nullptr) *count = 0;
  return Status::success;
}
