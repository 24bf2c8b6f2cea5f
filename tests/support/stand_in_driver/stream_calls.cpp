// Streams and events.
#include "tests/support/stand_in_driver/driver_objects.h"

namespace ohm::stand_in::driver {

namespace {

bool is_stream(StreamHandle stream) {
  return stream == nullptr || machine().streams.count(stream) > 0;
}

}  // namespace

Result stream_create(StreamHandle* stream, unsigned flags) {
  Machine& now = machine();
  if (const int error = now.begin("cuStreamCreate")) return error;
  if (flags != kNonBlockingStream) return now.wrong("a stream that waits for the default one");
  *stream = reinterpret_cast<StreamHandle>(new char);
  now.streams.insert(*stream);
  return kSuccess;
}

Result stream_destroy(StreamHandle stream) {
  Machine& now = machine();
  if (const int error = now.begin("cuStreamDestroy_v2")) return error;
  if (now.streams.erase(stream) == 0) return now.wrong("cuStreamDestroy of no stream");
  delete reinterpret_cast<char*>(stream);
  return kSuccess;
}

Result stream_synchronize(StreamHandle stream) {
  Machine& now = machine();
  if (const int error = now.begin("cuStreamSynchronize")) return error;
  return is_stream(stream) ? kSuccess : now.wrong("no stream", kInvalidHandle);
}

Result stream_wait_event(StreamHandle stream, EventHandle event, unsigned /*flags*/) {
  Machine& now = machine();
  if (const int error = now.begin("cuStreamWaitEvent")) return error;
  const auto found = now.events.find(event);
  if (!is_stream(stream) || found == now.events.end() || !found->second.is_recorded) {
    return now.wrong("cuStreamWaitEvent for what was not recorded", kInvalidHandle);
  }
  return kSuccess;
}

Result event_create(EventHandle* event, unsigned flags) {
  Machine& now = machine();
  if (const int error = now.begin("cuEventCreate")) return error;
  if (flags != kEventWithoutTiming) return now.wrong("an event that takes the time");
  *event = reinterpret_cast<EventHandle>(new char);
  now.events[*event] = {};
  return kSuccess;
}

Result event_destroy(EventHandle event) {
  Machine& now = machine();
  if (const int error = now.begin("cuEventDestroy_v2", false)) return error;
  if (now.events.erase(event) == 0) return now.wrong("cuEventDestroy of no event");
  delete reinterpret_cast<char*>(event);
  return kSuccess;
}

Result event_record(EventHandle event, StreamHandle stream) {
  Machine& now = machine();
  if (const int error = now.begin("cuEventRecord")) return error;
  if (!is_stream(stream) || now.events.count(event) == 0) return now.wrong("cuEventRecord");
  now.events[event] = {stream, true};
  return kSuccess;
}

/// Never done by itself: who relies on it has to wait.
Result event_query(EventHandle event) {
  Machine& now = machine();
  if (const int error = now.begin("cuEventQuery")) return error;
  if (now.events.count(event) == 0) return now.wrong("cuEventQuery of no event");
  return kNotReady;
}

Result event_synchronize(EventHandle event) {
  Machine& now = machine();
  if (const int error = now.begin("cuEventSynchronize")) return error;
  const auto found = now.events.find(event);
  if (found == now.events.end() || !found->second.is_recorded) {
    return now.wrong("cuEventSynchronize of what was not recorded");
  }
  return kSuccess;
}

}  // namespace ohm::stand_in::driver
