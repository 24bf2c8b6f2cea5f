// Work that streams have not finished (kInFlightVariable). A piece of work is complete once N more
// calls were made on its stream: later work, or questions whether it is complete, so that a program
// that polls goes on; or once something has waited for it. Streams wait for events, and blocking
// ones for the legacy default stream and it for them, as CUDA orders them.
//
// What work does is done when it is launched: only the answers come later. Without the variable, or
// with CUDA_LAUNCH_BLOCKING, work is complete at once, and none of this is looked at.
//
// Any thread may call anything.
#pragma once

#include <cstddef>
#include <cstdint>

#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/provisional_values.h"
#include "allocator_shim/interpose/status.h"

namespace ohm::interpose {

/// N; 0: work completes at once.
extern std::size_t calls_in_flight;

namespace in_flight {

void launch(const Stream* stream);
void record(Event& event, const Stream* stream);
void forget_record(Event& event);
void order(const Stream* stream, const Event& event);
bool has_finished(const Stream* stream);
bool has_finished(const Event& event);
void wait_for(const Stream* stream);
void wait_for(const Event& event);
void wait_for_device(int device);
void forget(const Stream* stream);

}  // namespace in_flight

/// A piece of work was launched on a stream.
inline void note_launched(const Stream* stream) {
  if (calls_in_flight > 0) in_flight::launch(stream);
}
/// A piece of work that may write device memory, and a node of a graph where it is recorded.
inline void note_work(const Stream* stream, NodeType type = NodeType::kernel) {
  judge_provisional_values();
  if (capture_of(stream) != nullptr) {
    capture_work(stream, type);
  } else {
    note_launched(stream);
  }
}

/// What was launched on the stream before is what the event is about.
inline void note_recorded(Event& event, const Stream* stream) {
  if (calls_in_flight > 0) in_flight::record(event, stream);
}
/// It was recorded into a graph, and is about nothing.
inline void note_captured(Event& event) {
  if (calls_in_flight > 0) in_flight::forget_record(event);
}
/// Later work of the stream comes after what the event is about.
inline void note_ordered(const Stream* stream, const Event& event) {
  if (calls_in_flight > 0) in_flight::order(stream, event);
}
/// A question of the program: it counts as a call where the answer is no.
inline bool is_finished(const Stream* stream) {
  return calls_in_flight == 0 || in_flight::has_finished(stream);
}
inline bool is_finished(const Event& event) {
  return calls_in_flight == 0 || in_flight::has_finished(event);
}
inline void note_waited(const Stream* stream) {
  if (calls_in_flight > 0) in_flight::wait_for(stream);
}
inline void note_waited(const Event& event) {
  if (calls_in_flight > 0) in_flight::wait_for(event);
}
/// For all streams of a GPU.
inline void note_device_waited(int device) {
  if (calls_in_flight > 0) in_flight::wait_for_device(device);
}
/// As cudaFree: all work of the GPU is waited for.
Status free_when_finished(DeviceAddress address);

/// It is about to be destroyed. What is left of its work counts as complete.
inline void note_destroyed(const Stream* stream) {
  if (calls_in_flight > 0) in_flight::forget(stream);
}

}  // namespace ohm::interpose
