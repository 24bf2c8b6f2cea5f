// Streams, events and graphs of the stand-in: what is behind cudaStream_t and CUstream, cudaEvent_t
// and CUevent, cudaGraph_t. What work does is done as soon as it is asked for, so all they hold is
// what programs ask about them. The creator of one destroys it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "allocator_shim/interpose/graph_nodes.h"
#include "allocator_shim/interpose/handle_pool.h"
#include "allocator_shim/interpose/host_functions.h"
#include "allocator_shim/interpose/status.h"

namespace ohm::interpose {

/// As cudaStreamCaptureMode numbers them: who may not make calls that cannot be captured meanwhile.
enum class CaptureMode : int { global, thread_local_only, relaxed };

struct Stream;

/// What a stream records into between cudaStreamBeginCapture and cudaStreamEndCapture. Streams that
/// wait for its events join it. It lives as long as the process: any of them may still name it.
struct Capture {
  std::uint64_t id = 0;
  Graph* graph = nullptr;
  const Stream* origin = nullptr;    ///< where it began, and has to end
  std::vector<const Stream*> forks;  ///< streams that joined it
  bool is_in_order = false;          ///< with the legacy default stream, which cannot be captured
  CaptureMode mode = CaptureMode::global;
  int device = 0;
  std::thread::id thread;  ///< that began it
  std::atomic<bool> is_active = true;
  std::atomic<bool> is_invalid = false;  ///< it was waited for, which cannot be captured
  Capture* older = nullptr;              ///< the one before it in the list of all
};

/// cudaLaunchAttributeValue.
using StreamAttributeValue = std::array<std::byte, 64>;
using StreamAttributes = std::array<StreamAttributeValue, 5>;

struct Stream {
  int device = 0;
  int priority = 0;
  unsigned flags = 0;
  std::uint64_t id = 0;
  std::atomic<Capture*> capture = nullptr;
  mutable std::vector<GraphNode*> captured = {};              ///< what its next node depends on
  std::optional<StreamAttributes> attributes = std::nullopt;  ///< absent: none was set or asked for
};

/// In the work of a stream, up to which it may be complete. Of line 0: nothing is before it.
struct WorkPoint {
  std::uint64_t line = 0;
  std::uint64_t step = 0;  ///< pieces of work and waits for other streams before it
  std::uint64_t call = 0;  ///< that was the last piece of work; 0: there was none
};

struct Event {
  int device = 0;
  std::atomic<Capture*> capture = nullptr;
  bool has_timing = true;
  std::atomic<bool> is_recorded = false;
  std::vector<GraphNode*> captured = {};  ///< the work of a capture that it is about
  WorkPoint point;                        ///< that it is about (work_in_flight.h)
};

/// Handles of streams that exist from the start: the legacy one (nullptr and 1) and the thread's
/// (2).
inline bool is_default(const Stream* stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= 2;
}

/// The one that waits for blocking streams, and they for it.
inline bool is_legacy(const Stream* stream) {
  return reinterpret_cast<std::uintptr_t>(stream) <= 1;
}

/// What the stream records into; nullptr: nothing.
inline Capture* capture_of(const Stream* stream) {
  Capture* capture = is_default(stream) ? nullptr : stream->capture.load();
  return capture != nullptr && capture->is_active ? capture : nullptr;
}

/// A node after what the stream has captured. nullptr: there is no room for it.
GraphNode* capture_work(const Stream* stream, NodeType type, NodeWork work = {});
/// The stream waits for an event of a capture, which it joins.
void join_capture(Stream* stream, const Event& event);
/// Whether all work of the capture comes before what its origin has captured.
bool are_forks_joined(const Capture& capture);

HandlePool<Stream>& streams();
HandlePool<Event>& events();

/// Whether work may go to it: a default stream, or one that was not destroyed.
inline bool is_stream(const Stream* stream) {
  return is_default(stream) || streams().is_alive(stream);
}

/// nullptr: there is no room for another one.
Stream* create_stream(int device, unsigned flags, int priority);
Capture* begin_capture(const Stream* origin, CaptureMode mode);
void end_capture(Capture& capture);
/// Of calls of this thread (cudaThreadExchangeStreamCaptureMode).
CaptureMode& capture_mode_of_thread();
/// Whether a call that cannot be captured, such as one that allocates, is refused because of a
/// capture, which it ends.
bool breaks_capture();
/// The same for work of the legacy default stream.
bool breaks_ordered_capture();
/// The same for a call that waits for a GPU, or asks about it, whatever the mode.
bool breaks_capture_of(int device);

/// What all of NVIDIA's libraries return when nothing is wrong.
inline constexpr int kLibrarySuccess = 0;

/// Objects of libraries that PyTorch only passes around (handles, descriptors): zeros to begin
/// with, more than any of them needs.
void* create_object();
bool is_object(const void* object);
/// False: it is none, or gone.
bool destroy_object(const void* object);

/// Writes a value where a program gave a place for it.
template <typename Value, typename Place>
void tell(const Value& value, Place* place) {
  if (place != nullptr) *place = static_cast<Place>(value);
}

/// The beginning of the handles that have a stream.
struct LibraryHandle {
  Stream* stream;
};

}  // namespace ohm::interpose
