#include "allocator_shim/replay/disagreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "allocator_shim/base/format_bytes.h"
#include "allocator_shim/base/size_policy.h"
#include "allocator_shim/replay/state_comparison.h"

namespace ohm {
namespace {

std::string bytes_text(std::uint64_t bytes) { return human_and_exact_bytes(bytes); }

std::string text_of(const MemoryEvent& event) {
  switch (event.action) {
    case EventAction::snapshot:
      return fmt::format("snapshot of {} active", bytes_text(event.bytes));
    case EventAction::oom:
      return fmt::format("oom for {}", bytes_text(event.bytes));
    default:
      return fmt::format("{} of {} at {:#x}", name_of(event.action), bytes_text(event.bytes),
                         event.address);
  }
}

bool is_about_block(const MemoryEvent& event) {
  return event.action == EventAction::alloc || event.action == EventAction::free_requested ||
         event.action == EventAction::free_completed;
}

class Explanation {
 public:
  Explanation(const DeviceHistory& history, const BlockLives& lives, const Divergence& divergence,
              const CachingAllocator& before)
      : history_(history),
        lives_(lives),
        divergence_(divergence),
        recorded_(history.events[std::min(divergence.event, history.events.size() - 1)]),
        segments_(before.segments()) {}

  Disagreement run() {
    explained_.event = divergence_.event;
    switch (divergence_.what) {
      case Divergence::What::event:
        explain_event();
        break;
      case Divergence::What::extra:
        explained_.summary =
            fmt::format("event {} is {}: the allocator goes on to {}, which is not in the record",
                        divergence_.event, text_of(recorded_), text_of(*divergence_.actual));
        break;
      case Divergence::What::snapshot:
        explained_.summary =
            fmt::format("event {} is a {}: the allocator has {} active", divergence_.event,
                        text_of(recorded_), bytes_text(divergence_.actual->bytes));
        break;
      case Divergence::What::final_state:
        explain_final_state();
        break;
    }
    return std::move(explained_);
  }

 private:
  void say(std::string line) { explained_.details.push_back(std::move(line)); }

  void explain_event() {
    const std::string instead =
        divergence_.actual ? fmt::format("the allocator has {}", text_of(*divergence_.actual))
                           : std::string("the allocator does nothing more");
    explained_.summary =
        fmt::format("event {} is {}: {}", divergence_.event, text_of(recorded_), instead);
    if (divergence_.actual && is_about_block(recorded_) &&
        divergence_.actual->address == recorded_.address) {
      return explain_block();
    }
    if (recorded_.action != EventAction::oom) say(fmt::format("there was {}", place_text()));
    if (divergence_.step.kind == HistoryStep::Kind::allocate) explain_choice();
  }

  /// The right block with other figures.
  void explain_block() {
    const std::uint32_t index = lives_.life_of[divergence_.event];
    if (index == kNever) return;
    const BlockLife& life = lives_.lives[index];
    say(fmt::format("the block there is of {}, for a request of {}{}", lane_text(life.stream),
                    bytes_text(life.requested_bytes),
                    life.began_before() ? " from before the record"
                                        : fmt::format(", event {}", life.allocated_at)));
  }

  /// What was at the recorded address, just before.
  std::string place_text() const {
    const auto above = std::upper_bound(segments_.begin(), segments_.end(), recorded_.address,
                                        [](DeviceAddress address, const SegmentView& segment) {
                                          return address < segment.address;
                                        });
    if (above == segments_.begin()) return "no segment";
    const SegmentView& segment = *std::prev(above);
    if (recorded_.address >= segment.address + segment.bytes) return "no segment";
    const auto block = std::find_if(
        segment.blocks.begin(), segment.blocks.end(),
        [&](const BlockView& one) { return recorded_.address < one.address + one.bytes; });
    return fmt::format("{} in a {} segment of {}", block_text(*block),
                       segment.is_small ? "small" : "large", lane_text(segment.stream));
  }

  std::string block_text(const BlockView& block) const {
    const bool is_free = block.state == BlockView::State::inactive;
    std::string text = fmt::format("a block of {}, {}", bytes_text(block.bytes),
                                   is_free ? "free" : name_of(block.state));
    if (block.address != recorded_.address) {
      text +=
          fmt::format(", which begins {} before it", bytes_text(recorded_.address - block.address));
    }
    return text;
  }

  std::string lane_text(StreamId lane) const { return name_of(history_.lanes[lane]); }

  void explain_choice() {
    const MemoryEvent& asked = history_.events[divergence_.step.end - 1];
    const std::size_t rounded = asked.action == EventAction::oom
                                    ? asked.bytes
                                    : round_request(asked.bytes, history_.settings);
    const bool is_small = rounded <= kSmallRequestBytes;
    say(fmt::format("the request: {} rounded to {}, {} pool of {}", bytes_text(asked.bytes),
                    bytes_text(rounded), is_small ? "small" : "large", lane_text(asked.stream)));
    std::size_t fitting = 0;
    const BlockView* best = nullptr;
    for (const SegmentView& segment : segments_) {
      if (segment.is_small != is_small || segment.stream != asked.stream) continue;
      for (const BlockView& block : segment.blocks) {
        if (block.state != BlockView::State::inactive || block.bytes < rounded) continue;
        ++fitting;
        if (best == nullptr || block.bytes < best->bytes) best = &block;
      }
    }
    if (best == nullptr) {
      say(fmt::format("no cached block of that pool is large enough: the device is asked for {}",
                      bytes_text(segment_bytes_for(rounded))));
    } else {
      say(
          fmt::format("{} cached block{} of that pool {} large enough; the smallest at the lowest "
                      "address is {} at {:#x}",
                      fitting, fitting == 1 ? "" : "s", fitting == 1 ? "is" : "are",
                      bytes_text(best->bytes), best->address));
    }
  }

  void explain_final_state() {
    explained_.summary = fmt::format("all events agree, the segments at the end do not: {}",
                                     divergence_.final_state);
    if (divergence_.event == history_.events.size()) {
      explained_.event.reset();
      return;
    }
    say(fmt::format("the last event there is number {}: {}", divergence_.event,
                    text_of(history_.events[divergence_.event])));
  }

  const DeviceHistory& history_;
  const BlockLives& lives_;
  const Divergence& divergence_;
  const MemoryEvent& recorded_;
  const std::vector<SegmentView> segments_;
  Disagreement explained_;
};

}  // namespace

Disagreement explain(const DeviceHistory& history, const BlockLives& lives,
                     const Divergence& divergence, const CachingAllocator& before) {
  return Explanation(history, lives, divergence, before).run();
}

}  // namespace ohm
