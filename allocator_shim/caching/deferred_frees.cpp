#include "allocator_shim/caching/deferred_frees.h"

#include <utility>

namespace ohm {

void DeferredFrees::add_use(Block& block, StreamId stream) {
  block.is_used_by_other_streams = true;
  uses_[&block].insert(stream);
}

void DeferredFrees::defer(Block& block) {
  const auto uses = uses_.find(&block);
  for (const StreamId stream : uses->second) {
    queues_[stream].push_back({streams_.record(stream), &block});
  }
  events_left_[&block] = uses->second.size();
  uses_.erase(uses);
  block.is_used_by_other_streams = false;
  block.state = BlockState::pending_free;
}

void DeferredFrees::hold(Block& block) {
  block.state = BlockState::pending_free;
  held_.push_back(&block);
}

void DeferredFrees::defer_held() {
  for (Block* const block : std::exchange(held_, {})) defer(*block);
}

Block* DeferredFrees::pop(std::map<StreamId, std::deque<Pending>>::iterator queue) {
  Block* const block = queue->second.front().block;
  queue->second.pop_front();
  if (queue->second.empty()) queues_.erase(queue);
  const auto left = events_left_.find(block);
  if (--left->second > 0) return nullptr;
  events_left_.erase(left);
  return block;
}

Block* DeferredFrees::next_finished() {
  for (auto queue = queues_.begin(); queue != queues_.end();) {
    const auto current = queue++;
    const StreamId stream = current->first;
    std::size_t waiting = current->second.size();
    while (waiting-- > 0 && streams_.is_complete(stream, current->second.front().event)) {
      if (Block* const block = pop(current)) return block;
    }
  }
  return nullptr;
}

Block* DeferredFrees::wait_for_next() {
  while (!queues_.empty()) {
    const auto first = queues_.begin();
    streams_.wait(first->first, first->second.front().event);
    if (Block* const block = pop(first)) return block;
  }
  return nullptr;
}

}  // namespace ohm
