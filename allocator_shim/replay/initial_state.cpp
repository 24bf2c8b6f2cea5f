#include "allocator_shim/replay/initial_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "allocator_shim/base/size_policy.h"

namespace ohm {
namespace {

/// Blocks of the large pool are larger than this, and have at most this much to spare.
constexpr std::size_t kMostSpareBytes = kSmallRequestBytes;

/// What stood in one segment when the history began.
struct Tenants {
  const SegmentView& segment;
  std::vector<std::uint32_t> lives;  ///< in address order
};

class InitialStateFinder {
 public:
  InitialStateFinder(const DeviceHistory& history, const BlockLives& lives,
                     const Assumptions& assumptions)
      : history_(history), lives_(lives), assumptions_(assumptions) {}

  InitialState run() {
    SegmentsAtStart start = undo_segments(history_, lives_, assumptions_);
    state_.segments = std::move(start.segments);
    state_.reservations = std::move(start.created);
    state_.peak_reserved_bytes = start.peak_reserved_bytes;
    for (const Tenants& tenants : tenants_of_segments()) find_sizes(tenants);
    look_at_cuts();
    place_blocks(state_, lives_);
    return std::move(state_);
  }

 private:
  /// Names the event that freed the block, or else the one that made the memory that it lies in.
  [[noreturn]] void refuse(const BlockLife& life, const std::string& why) const {
    throw HistoryError(HistoryError::Kind::inconsistent, why, event_about(life));
  }

  std::optional<std::size_t> event_about(const BlockLife& life) const {
    if (life.freed_at != kNever) return life.freed_at;
    if (life.completed_at != kNever) return life.completed_at;
    for (const std::uint32_t index : lives_.segment_events) {
      const MemoryEvent& made = history_.events[index];
      if (made.address <= life.address && life.address < made.address + made.bytes) return index;
    }
    return std::nullopt;
  }

  std::vector<Tenants> tenants_of_segments() const {
    std::vector<Tenants> all;
    auto next = lives_.before.begin();
    for (const SegmentView& segment : state_.segments) {
      Tenants& tenants = all.emplace_back(Tenants{segment, {}});
      for (; next != lives_.before.end(); ++next) {
        const BlockLife& life = lives_.lives[*next];
        if (life.address >= segment.address + segment.bytes) break;
        check_place(life, segment);
        tenants.lives.push_back(*next);
      }
    }
    if (next != lives_.before.end()) check_place(lives_.lives[*next], {});
    return all;
  }

  void check_place(const BlockLife& life, const SegmentView& segment) const {
    if (life.address < segment.address || segment.bytes == 0) {
      refuse(life,
             fmt::format("the block at {:#x} was allocated before the record begins, but lies in "
                         "no segment of that time",
                         life.address));
    }
    if (life.stream != segment.stream) {
      refuse(life,
             fmt::format("the block at {:#x} is of another stream than its segment", life.address));
    }
  }

  void find_sizes(const Tenants& tenants) {
    for (std::size_t i = 0; i < tenants.lives.size(); ++i) {
      const BlockLife& life = lives_.lives[tenants.lives[i]];
      const bool is_last = i + 1 == tenants.lives.size();
      const DeviceAddress limit = is_last ? tenants.segment.address + tenants.segment.bytes
                                          : lives_.lives[tenants.lives[i + 1]].address;
      const std::size_t room = limit - life.address;
      const std::size_t rounded =
          life.bytes != 0 ? life.bytes : round_request(life.requested_bytes, history_.settings);
      if (rounded > room) {
        const bool is_named = is_last || event_about(life);
        refuse(is_named ? life : lives_.lives[tenants.lives[i + 1]],
               fmt::format("a block of {} bytes at {:#x} would reach into what begins at {:#x}",
                           rounded, life.address, limit));
      }
      const std::size_t bytes = life.bytes != 0 ? rounded : size_in(tenants.segment, rounded, room);
      state_.allocated.push_back({tenants.lives[i], bytes});
    }
  }

  /// See Note [Open sizes].
  std::size_t size_in(const SegmentView& segment, std::size_t rounded, std::size_t room) {
    if (segment.is_small || segment.is_expandable) return rounded;
    if (rounded >= history_.settings.max_split_size_bytes) return room;
    const std::size_t gap = room - rounded;
    // Splitting leaves less than that only while expandable segments are on: no program asks for
    // it.
    if (gap <= kMostSpareBytes) return history_.settings.expandable_segments ? rounded : room;
    const std::size_t smallest_free = kMostSpareBytes + kMinBlockBytes;
    if (gap > smallest_free && !history_.settings.expandable_segments) {
      OpenBlock open;
      open.index = state_.allocated.size();
      open.smallest_bytes = rounded;
      open.largest_bytes = rounded + std::min(kMostSpareBytes, gap - smallest_free);
      state_.open.push_back(open);
    }
    return rounded;
  }

  /// The first block that was cut from the gap behind an open block began where that ends.
  void look_at_cuts() {
    if (state_.open.empty()) return;
    std::size_t unresolved = state_.open.size();
    for (const BlockLife& life : lives_.lives) {
      if (life.began_before()) continue;
      OpenBlock* const open = open_before(life.address);
      if (open == nullptr || open->is_known) continue;
      const BlockLife& block = life_of(*open);
      if (life.address < block.address + open->smallest_bytes) continue;
      if (life.address > block.address + open->largest_bytes) continue;
      if (block.completed_at < life.allocated_at) continue;
      state_.allocated[open->index].bytes = life.address - block.address;
      open->is_known = true;
      if (--unresolved == 0) return;
    }
  }

  OpenBlock* open_before(DeviceAddress address) {
    const auto above = std::upper_bound(state_.open.begin(), state_.open.end(), address,
                                        [&](DeviceAddress wanted, const OpenBlock& open) {
                                          return wanted < life_of(open).address;
                                        });
    return above == state_.open.begin() ? nullptr : &*std::prev(above);
  }

  const BlockLife& life_of(const OpenBlock& open) const {
    return lives_.lives[state_.allocated[open.index].life];
  }

  const DeviceHistory& history_;
  const BlockLives& lives_;
  const Assumptions& assumptions_;
  InitialState state_;
};

BlockView block_view(DeviceAddress address, std::size_t bytes, std::size_t requested_bytes,
                     BlockView::State state) {
  BlockView view;
  view.address = address;
  view.bytes = bytes;
  view.requested_bytes = requested_bytes;
  view.state = state;
  return view;
}

}  // namespace

std::size_t InitialState::reserved_bytes() const {
  std::size_t bytes = 0;
  for (const SegmentView& segment : segments) bytes += segment.bytes;
  return bytes;
}

InitialState find_initial_state(const DeviceHistory& history, const BlockLives& lives,
                                const Assumptions& assumptions) {
  return InitialStateFinder(history, lives, assumptions).run();
}

void place_blocks(InitialState& state, const BlockLives& lives) {
  using State = BlockView::State;
  std::size_t unknown = kUnknownRequest;
  auto next = state.allocated.begin();
  for (SegmentView& segment : state.segments) {
    segment.blocks.clear();
    DeviceAddress at = segment.address;
    const DeviceAddress end = segment.address + segment.bytes;
    const auto fill_up_to = [&](DeviceAddress limit) {
      if (at < limit) {
        segment.blocks.push_back(block_view(at, limit - at, unknown++, State::inactive));
      }
      at = limit;
    };
    for (; next != state.allocated.end(); ++next) {
      const BlockLife& life = lives.lives[next->life];
      if (life.address >= end) break;
      fill_up_to(life.address);
      segment.blocks.push_back(
          block_view(at, next->bytes, life.requested_bytes, State::active_allocated));
      segment.blocks.back().site = next->life;
      at += next->bytes;
    }
    fill_up_to(end);
  }
}

}  // namespace ohm
