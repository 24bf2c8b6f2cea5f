// CUDA's driver: streams, events and graphs, which are the runtime's.
#include <cstdint>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"

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
Status cudaStreamGetId(Stream* stream, std::uint64_t* id);
Status cudaStreamAddCallback(Stream* stream, StreamCallback callback, void* data, unsigned flags);
Status cudaLaunchHostFunc(Stream* stream, HostFunction function, void* data);
Status cudaStreamBeginCapture(Stream* stream, int mode);
Status cudaStreamEndCapture(Stream* stream, Graph** graph);
Status cudaStreamSynchronize(Stream* stream);
Status cudaThreadExchangeStreamCaptureMode(int* mode);
Status cudaGraphCreate(Graph** graph, unsigned flags);
Status cudaGraphDestroy(Graph* graph);
Status cudaGraphInstantiateWithFlags(ExecutableGraph** executable, Graph* graph,
                                     unsigned long long flags);
Status cudaGraphExecDestroy(ExecutableGraph* executable);
Status cudaGraphUpload(ExecutableGraph* executable, Stream* stream);
Status cudaGraphLaunch(ExecutableGraph* executable, Stream* stream);
Status cudaStreamQuery(Stream* stream);
Status cudaEventQuery(Event* event);
Status cudaEventSynchronize(Event* event);
}

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

OHM_EXPORTED Status cuGraphCreate(Graph** graph, unsigned flags) {
  OHM_CONTEXT_CALL;
  return cudaGraphCreate(graph, flags);
}

OHM_EXPORTED Status cuGraphDestroy(Graph* graph) {
  OHM_CONTEXT_CALL;
  return cudaGraphDestroy(graph);
}

OHM_EXPORTED Status cuGraphInstantiateWithFlags(ExecutableGraph** executable, Graph* graph,
                                                unsigned long long flags) {
  OHM_CONTEXT_CALL;
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}

OHM_EXPORTED Status cuGraphExecDestroy(ExecutableGraph* executable) {
  OHM_CONTEXT_CALL;
  return cudaGraphExecDestroy(executable);
}

OHM_EXPORTED Status cuGraphUpload(ExecutableGraph* executable, Stream* stream) {
  OHM_CONTEXT_CALL;
  return cudaGraphUpload(executable, stream);
}

OHM_EXPORTED Status cuGraphLaunch(ExecutableGraph* executable, Stream* stream) {
  OHM_CONTEXT_CALL;
  return cudaGraphLaunch(executable, stream);
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
