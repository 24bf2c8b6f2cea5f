// Streams of a virtual GPU: no work is queued, so the program says when a stream has caught up.
#pragma once

#include <unordered_map>

#include "allocator_shim/device/stream_events.h"

namespace ohm {

/// Events complete when the program waits for them or synchronises, never by themselves: what a run
/// does cannot depend on how fast a device would have been.
class VirtualStreams final : public StreamEvents {
 public:
  StreamEvent record(StreamId stream) override;
  bool is_complete(StreamId stream, StreamEvent event) override;
  void wait(StreamId stream, StreamEvent event) override;

  /// Everything recorded on `stream` so far is complete.
  void synchronize(StreamId stream);
  /// Everything recorded so far is complete (cudaDeviceSynchronize).
  void synchronize_all();

 private:
  struct Progress {
    StreamEvent recorded = 0;
    StreamEvent completed = 0;
  };
  std::unordered_map<StreamId, Progress> streams_;
};

}  // namespace ohm
