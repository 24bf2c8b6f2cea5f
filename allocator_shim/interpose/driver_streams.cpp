// CUDA's driver: streams and events, which are the runtime's.
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/work_in_flight.h"

using namespace ohm::interpose;

extern "C" {
Status cudaStreamCreateWithPriority(Stream** stream, unsigned flags, int priority);
Status cudaStreamDestroy(Stream* stream);
Status cudaStreamWaitEvent(Stream* stream, Event* event, unsigned flags);
Status cudaStreamIsCapturing(Stream* stream, int* status);
Status cudaStreamGetCaptureInfo_v2(Stream* stream, int* status, std::uint64_t* id, Graph** graph,
                                   void* const** dependencies, std::size_t* count);
Status cudaStreamGetCaptureInfo_v3(Stream* stream, int* status, std::uint64_t* id, Graph** graph,
                                   void* const** dependencies, const void** edges,
                                   std::size_t* count);
Status cudaEventCreateWithFlags(Event** event, unsigned flags);
Status cudaEventDestroy(Event* event);
Status cudaEventRecord(Event* event, Stream* stream);
Status cudaEventElapsedTime(float* milliseconds, Event* begin, Event* end);
Status cudaStreamGetPriority(Stream* stream, int* priority);
Status cudaStreamGetFlags(Stream* stream, unsigned* flags);
Status cudaStreamGetDevice(Stream* stream, int* device);
Status cudaStreamGetId(Stream* stream, std::uint64_t* id);
Status cudaStreamAddCallback(Stream* stream, StreamCallback callback, void* data, unsigned flags);
Status cudaLaunchHostFunc(Stream* stream, HostFunction function, void* data);
Status cudaStreamBeginCapture(Stream* stream, int mode);
Status cudaStreamEndCapture(Stream* stream, Graph** graph);
Status cudaStreamSynchronize(Stream* stream);
Status cudaThreadExchangeStreamCaptureMode(int* mode);
Status cudaStreamQuery(Stream* stream);
Status cudaEventQuery(Event* event);
Status cudaEventSynchronize(Event* event);
}

namespace {

template <typename Write>
Status write_value(const Stream* stream, Write write) {
  if (!is_stream(stream)) return Status::invalid_handle;
  note_launched(stream);
  return write();
}

Status wait_for_value(const Stream* stream, const void* at, std::size_t bytes, unsigned flags) {
  constexpr unsigned kConditions = 3;
  constexpr unsigned kFlushes = 1U << 30U;
  if (!is_stream(stream)) return Status::invalid_handle;
  const bool is_reached =
      gpus().place_of(at, bytes) == Place::device || gpus().is_pinned(at) || gpus().is_managed(at);
  const bool is_right = is_reached && (flags & ~(kConditions | kFlushes)) == 0 &&
                        reinterpret_cast<std::uintptr_t>(at) % bytes == 0;
  if (is_right) note_launched(stream);
  return is_right ? Status::success : Status::invalid_value;
}

}  // namespace

OHM_EXPORTED Status cuStreamCreate(Stream** stream, unsigned flags) {
  OHM_CONTEXT_CALL;
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

OHM_EXPORTED Status cuStreamCreateWithPriority(Stream** stream, unsigned flags, int priority) {
  OHM_CONTEXT_CALL;
  return cudaStreamCreateWithPriority(stream, flags, priority);
}

OHM_EXPORTED Status cuStreamDestroy_v2(Stream* stream) {
  OHM_CONTEXT_CALL;
  return cudaStreamDestroy(stream);
}

OHM_EXPORTED Status cuStreamWaitEvent(Stream* stream, Event* event, unsigned flags) {
  OHM_CONTEXT_CALL;
  return cudaStreamWaitEvent(stream, event, flags);
}

OHM_EXPORTED Status cuStreamIsCapturing(Stream* stream, int* status) {
  OHM_CONTEXT_CALL;
  return cudaStreamIsCapturing(stream, status);
}

OHM_EXPORTED Status cuStreamGetCaptureInfo_v2(Stream* stream, int* status, std::uint64_t* id,
                                              Graph** graph, void* const** dependencies,
                                              std::size_t* count) {
  OHM_CONTEXT_CALL;
  return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count);
}

OHM_EXPORTED Status cuStreamGetCaptureInfo_v3(Stream* stream, int* status, std::uint64_t* id,
                                              Graph** graph, void* const** dependencies,
                                              const void** edges, std::size_t* count) {
  OHM_CONTEXT_CALL;
  return cudaStreamGetCaptureInfo_v3(stream, status, id, graph, dependencies, edges, count);
}

OHM_EXPORTED Status cuEventCreate(Event** event, unsigned flags) {
  OHM_CONTEXT_CALL;
  return cudaEventCreateWithFlags(event, flags);
}

OHM_EXPORTED Status cuEventDestroy_v2(Event* event) {
  OHM_CONTEXT_CALL;
  return cudaEventDestroy(event);
}

OHM_EXPORTED Status cuEventRecord(Event* event, Stream* stream) {
  OHM_CONTEXT_CALL;
  return cudaEventRecord(event, stream);
}

OHM_EXPORTED Status cuEventElapsedTime_v2(float* milliseconds, Event* begin, Event* end) {
  OHM_CONTEXT_CALL;
  return cudaEventElapsedTime(milliseconds, begin, end);
}

OHM_EXPORTED Status cuEventRecordWithFlags(Event* event, Stream* stream, unsigned /*flags*/) {
  OHM_CONTEXT_CALL;
  return cudaEventRecord(event, stream);
}

OHM_EXPORTED Status cuStreamGetPriority(Stream* stream, int* priority) {
  OHM_CONTEXT_CALL;
  return cudaStreamGetPriority(stream, priority);
}

OHM_EXPORTED Status cuStreamGetFlags(Stream* stream, unsigned* flags) {
  OHM_CONTEXT_CALL;
  return cudaStreamGetFlags(stream, flags);
}

OHM_EXPORTED Status cuStreamGetDevice(Stream* stream, int* device) {
  OHM_CONTEXT_CALL;
  return cudaStreamGetDevice(stream, device);
}

OHM_EXPORTED Status cuStreamGetId(Stream* stream, std::uint64_t* id) {
  OHM_CONTEXT_CALL;
  return cudaStreamGetId(stream, id);
}

OHM_EXPORTED Status cuStreamAddCallback(Stream* stream, StreamCallback callback, void* data,
                                        unsigned flags) {
  OHM_CONTEXT_CALL;
  return cudaStreamAddCallback(stream, callback, data, flags);
}

OHM_EXPORTED Status cuLaunchHostFunc(Stream* stream, HostFunction function, void* data) {
  OHM_CONTEXT_CALL;
  return cudaLaunchHostFunc(stream, function, data);
}

OHM_EXPORTED Status cuStreamBeginCapture_v2(Stream* stream, int mode) {
  OHM_CONTEXT_CALL;
  return cudaStreamBeginCapture(stream, mode);
}

OHM_EXPORTED Status cuStreamSynchronize(Stream* stream) {
  OHM_CONTEXT_CALL;
  return cudaStreamSynchronize(stream);
}

OHM_EXPORTED Status cuStreamEndCapture(Stream* stream, Graph** graph) {
  OHM_CONTEXT_CALL;
  return cudaStreamEndCapture(stream, graph);
}

OHM_EXPORTED Status cuThreadExchangeStreamCaptureMode(int* mode) {
  OHM_CONTEXT_CALL;
  return cudaThreadExchangeStreamCaptureMode(mode);
}

OHM_EXPORTED Status cuStreamQuery(Stream* stream) {
  OHM_CONTEXT_CALL;
  return cudaStreamQuery(stream);
}

OHM_EXPORTED Status cuEventQuery(Event* event) {
  OHM_CONTEXT_CALL;
  return cudaEventQuery(event);
}

OHM_EXPORTED Status cuEventSynchronize(Event* event) {
  OHM_CONTEXT_CALL;
  return cudaEventSynchronize(event);
}

OHM_EXPORTED Status cuEventElapsedTime(float* milliseconds, Event* begin, Event* end) {
  OHM_CONTEXT_CALL;
  return cudaEventElapsedTime(milliseconds, begin, end);
}

OHM_EXPORTED Status cuStreamWriteValue32_v2(Stream* stream, std::uint32_t* to, std::uint32_t value,
                                            unsigned /*flags*/) {
  OHM_CONTEXT_CALL;
  return write_value(stream, [&] { return fill_words(to, value, 1); });
}

/// As libraries that look for it with dlsym name it.
OHM_EXPORTED Status cuStreamWriteValue32(Stream* stream, std::uint32_t* to, std::uint32_t value,
                                         unsigned flags) {
  OHM_DRIVER_CALL;
  return cuStreamWriteValue32_v2(stream, to, value, flags);
}

OHM_EXPORTED Status cuStreamWriteValue64_v2(Stream* stream, std::uint64_t* to, std::uint64_t value,
                                            unsigned /*flags*/) {
  OHM_CONTEXT_CALL;
  if (reinterpret_cast<std::uintptr_t>(to) % sizeof(value) != 0) return Status::invalid_value;
  return write_value(stream, [&] { return copy(to, &value, sizeof(value), Direction::unified); });
}

/// Work is complete when it is launched: what is waited for was written before, or never comes.
OHM_EXPORTED Status cuStreamWaitValue32_v2(Stream* stream, const std::uint32_t* at,
                                           std::uint32_t /*value*/, unsigned flags) {
  OHM_CONTEXT_CALL;
  return wait_for_value(stream, at, sizeof(*at), flags);
}

OHM_EXPORTED Status cuStreamWaitValue64_v2(Stream* stream, const std::uint64_t* at,
                                           std::uint64_t /*value*/, unsigned flags) {
  OHM_CONTEXT_CALL;
  return wait_for_value(stream, at, sizeof(*at), flags);
}
