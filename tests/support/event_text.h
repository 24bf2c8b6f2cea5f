// The events of one device in a form that a test can state in a line.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "allocator_shim/observe/event_record.h"

namespace ohm::test {

/// "+1:4096 +2:8 -1" is block 1 of 4,096 requested bytes, block 2 of 8, then block 1 freed. Blocks
/// are numbered in the order in which they are allocated, over the whole record.
class EventText {
 public:
  explicit EventText(const EventRecord& events) : events_(events) {}

  /// What was allocated and freed since the last call.
  std::string next() {
    std::string text;
    for (; events_seen_ < events_.size(); ++events_seen_) {
      const MemoryEvent& event = events_[events_seen_];
      const char* separator = text.empty() ? "" : " ";
      if (event.action == EventAction::alloc) {
        block_at_[event.address] = ++blocks_seen_;
        text += fmt::format("{}+{}:{}", separator, blocks_seen_, event.bytes);
      } else if (event.action == EventAction::free_completed) {
        text += fmt::format("{}-{}", separator, block_at_.at(event.address));
      }
    }
    return text;
  }

 private:
  const EventRecord& events_;
  std::size_t events_seen_ = 0;
  std::size_t blocks_seen_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> block_at_;  ///< live blocks by address
};

}  // namespace ohm::test
