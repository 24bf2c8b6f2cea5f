// Streams of a virtual GPU that runs programs: work is done as soon as it is queued, except what
// was made to last.
#pragma once

#include <deque>
#include <unordered_map>

#include "allocator_shim/device/stream_events.h"

namespace ohm {

/// A stream has always caught up, unless occupy() was called on it, or it waits for a stream on
/// which it was. Then it stays behind until the program waits for it: what a run does never depends
/// on how fast a device would have been.
class QueuedStreams final : public DeviceStreams {
 public:
  StreamEvent record(StreamId stream) override { return ++queues_[stream].recorded; }
  bool is_complete(StreamId stream, StreamEvent event) override;
  void wait(StreamId stream, StreamEvent event) override;

  void wait_for(StreamId stream, StreamId other, StreamEvent event) override;
  void occupy(StreamId stream) override;
  void synchronize(StreamId stream) override;
  void synchronize_all() override;

 private:
  /// What keeps a stream from going on: an event of another stream, or work that lasts.
  struct Obstacle {
    StreamEvent behind = 0;  ///< the last event of the stream that comes before it
    bool lasts = false;
    StreamId other = kDefaultStream;
    StreamEvent event = 0;
  };
  struct Queue {
    StreamEvent recorded = 0;
    std::deque<Obstacle> obstacles;
  };

  void drop_passed(Queue& queue);

  std::unordered_map<StreamId, Queue> queues_;
};

}  // namespace ohm
