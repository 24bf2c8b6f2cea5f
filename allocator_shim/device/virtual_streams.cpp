#include "allocator_shim/device/virtual_streams.h"

#include <algorithm>

namespace ohm {

StreamEvent VirtualStreams::record(StreamId stream) { return ++streams_[stream].recorded; }

bool VirtualStreams::is_complete(StreamId stream, StreamEvent event) {
  return event <= streams_[stream].completed;
}

void VirtualStreams::wait(StreamId stream, StreamEvent event) {
  Progress& progress = streams_[stream];
  progress.completed = std::max(progress.completed, event);
}

void VirtualStreams::synchronize(StreamId stream) {
  Progress& progress = streams_[stream];
  progress.completed = progress.recorded;
}

void VirtualStreams::synchronize_all() {
  for (auto& [stream, progress] : streams_) progress.completed = progress.recorded;
}

}  // namespace ohm
