#include "allocator_shim/device/queued_streams.h"

namespace ohm {

void QueuedStreams::drop_passed(Queue& queue) {
  while (!queue.obstacles.empty()) {
    const Obstacle& first = queue.obstacles.front();
    if (first.lasts || !is_complete(first.other, first.event)) return;
    queue.obstacles.pop_front();
  }
}

bool QueuedStreams::is_complete(StreamId stream, StreamEvent event) {
  const auto found = queues_.find(stream);
  if (found == queues_.end()) return true;
  Queue& queue = found->second;
  drop_passed(queue);
  return queue.obstacles.empty() || event <= queue.obstacles.front().behind;
}

void QueuedStreams::wait(StreamId stream, StreamEvent event) {
  const auto found = queues_.find(stream);
  if (found == queues_.end()) return;
  std::deque<Obstacle>& obstacles = found->second.obstacles;
  while (!obstacles.empty() && obstacles.front().behind < event) {
    const Obstacle first = obstacles.front();
    if (!first.lasts) wait(first.other, first.event);
    obstacles.pop_front();
  }
}

void QueuedStreams::wait_for(StreamId stream, StreamId other, StreamEvent event) {
  if (other == stream || is_complete(other, event)) return;
  Queue& queue = queues_[stream];
  queue.obstacles.push_back({queue.recorded, false, other, event});
}

void QueuedStreams::occupy(StreamId stream) {
  Queue& queue = queues_[stream];
  queue.obstacles.push_back({queue.recorded, true, kDefaultStream, 0});
}

void QueuedStreams::synchronize(StreamId stream) { wait(stream, record(stream)); }

void QueuedStreams::synchronize_all() {
  for (auto& [stream, queue] : queues_) queue.obstacles.clear();
}

}  // namespace ohm
