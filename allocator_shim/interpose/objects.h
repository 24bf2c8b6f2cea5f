// Streams, events and graphs of the stand-in: what is behind cudaStream_t and CUstream, cudaEvent_t
// and CUevent, cudaGraph_t. What work does is done as soon as it is asked for, so all they hold is
// what programs ask about them. The creator of one destroys it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/handle_pool.h"
#include "allocator_shim/interpose/status.h"

namespace ohm::interpose {

struct Graph {
  std::size_t nodes = 0;
};

/// What a stream records into between cudaStreamBeginCapture and cudaStreamEndCapture. Streams that
/// wait for its events join it. It lives as long as the process: any of them may still name it.
struct Capture {
  std::uint64_t id = 0;
  Graph* graph = nullptr;
  std::atomic<bool> is_active = true;
  std::atomic<bool> is_invalid = false;  ///< it was waited for, which cannot be captured
  Capture* older = nullptr;              ///< the one before it in the list of all
};

struct Stream {
  int device = 0;
  int priority = 0;
  unsigned flags = 0;
  std::uint64_t id = 0;
  std::atomic<Capture*> capture = nullptr;
};

/// In the work of a stream, up to which it may be complete. Of line 0: nothing is before it.
struct WorkPoint {
  std::uint64_t line = 0;
  std::uint64_t step = 0;  ///< pieces of work and waits for other streams before it
  std::uint64_t call = 0;  ///< that was the last piece of work; 0: there was none
};

struct Event {
  std::atomic<Capture*> capture = nullptr;
  bool has_timing = true;
  std::atomic<bool> is_recorded = false;
  WorkPoint point;  ///< that it is about (work_in_flight.h)
};

/// What was instantiated of a graph.
struct ExecutableGraph {
  std::size_t nodes = 0;
};

/// Handles of streams that exist from the start: the legacy one (nullptr and 1) and the thread's
/// (2).
inline bool is_default(const Stream* stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= 2;
}

/// What the stream records into; nullptr: nothing.
inline Capture* capture_of(const Stream* stream) {
  Capture* capture = is_default(stream) ? nullptr : stream->capture.load();
  return capture != nullptr && capture->is_active ? capture : nullptr;
}

/// What programs have called when a stream gets there.
using HostFunction = void (*)(void* data);
using StreamCallback = void (*)(Stream* stream, Status status, void* data);

HandlePool<Stream>& streams();
HandlePool<Event>& events();
HandlePool<Graph>& graphs();
HandlePool<ExecutableGraph>& executable_graphs();

/// Whether work may go to it: a default stream, or one that was not destroyed.
inline bool is_stream(const Stream* stream) {
  return is_default(stream) || streams().is_alive(stream);
}

/// nullptr: there is no room for another one.
Stream* create_stream(int device, unsigned flags, int priority);
Capture* begin_capture();

/// What all of NVIDIA's libraries return when nothing is wrong.
inline constexpr int kLibrarySuccess = 0;

/// Objects of libraries that PyTorch only passes around (handles, descriptors): zeros to begin
/// with, more than any of them needs.
void* create_object();
void destroy_object(void* object);

/// The beginning of the handles that have a stream.
struct LibraryHandle {
  Stream* stream;
};

}  // namespace ohm::interpose
