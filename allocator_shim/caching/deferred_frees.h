// Note [Deferred free]
// A block that foreign streams used is not free when its owner gives it back: work queued there may
// still touch it. One event per foreign stream is recorded then, and the block stays active until
// all of them have passed.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "allocator_shim/caching/block.h"
#include "allocator_shim/device/stream_events.h"

namespace ohm {

class DeferredFrees {
 public:
  explicit DeferredFrees(StreamEvents& streams) : streams_(streams) {}

  /// `stream` uses this block too.
  void add_use(Block& block, StreamId stream);

  /// Records the events of a block that other streams use and makes it pending.
  void defer(Block& block);

  /// The same without events, as long as a graph is captured: defer_held() records them.
  void hold(Block& block);
  void defer_held();

  bool empty() const { return queues_.empty() && held_.empty(); }

  /// The next block whose last event has passed, no longer pending; nullptr when there is none
  /// yet. Streams are looked at in ascending order, each no further than its first event that has
  /// not passed.
  Block* next_finished();

  /// The same, but waits for events.
  Block* wait_for_next();

 private:
  struct Pending {
    StreamEvent event;
    Block* block;
  };

  /// The block of the queue's first event, now passed, when that was its last one.
  Block* pop(std::map<StreamId, std::deque<Pending>>::iterator queue);

  StreamEvents& streams_;
  std::map<StreamId, std::deque<Pending>> queues_;  ///< none empty
  std::unordered_map<const Block*, std::set<StreamId>> uses_;
  std::unordered_map<const Block*, std::size_t> events_left_;
  std::vector<Block*> held_;
};

}  // namespace ohm
