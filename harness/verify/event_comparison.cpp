#include "harness/verify/event_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "allocator_shim/base/format_bytes.h"
#include "runtime/base/device.h"

namespace ohm::engine {

namespace {

std::string text_of(const MemoryEvent& event, const Site& site) {
  const std::string place =
      site.line == 0 ? std::string() : fmt::format(" at {}:{} {}", site.file, site.line, site.op);
  return fmt::format("{} {} {} ({} bytes){}", name_of(event.action),
                     event.device < 0 ? "host" : Device::cuda(event.device).str(),
                     human_bytes(event.bytes), event.bytes, place);
}

/// But for the address, which is the driver's own.
bool is_same(const MemoryEvent& a, const MemoryEvent& b) {
  return a.action == b.action && a.device == b.device && a.bytes == b.bytes &&
         a.stream == b.stream && a.block_units == b.block_units && a.category == b.category &&
         a.is_injected == b.is_injected;
}

class EventComparison {
 public:
  EventComparison(const RecordedEvents& on_virtual, const RecordedEvents& on_card,
                  VerifiedVariant& found)
      : virtual_(on_virtual), card_(on_card), found_(found) {}

  void run() {
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < virtual_.events.size() || j < card_.events.size()) {
      if (i < virtual_.events.size() && j < card_.events.size() && agree(i, j)) {
        ++i;
        ++j;
        continue;
      }
      const auto [next_i, next_j] = nearest_agreement(i, j);
      for (; i < next_i; ++i) note(false, i, virtual_);
      note_on_card(j, next_j);
      j = next_j;
    }
  }

 private:
  /// How far ahead the two are looked at, to find where they go on alike.
  static constexpr std::size_t kWindow = 64;
  /// So many equal events in a row are not an accident.
  static constexpr std::size_t kAgreement = 3;

  bool agree(std::size_t i, std::size_t j) const {
    return is_same(virtual_.events[i], card_.events[j]) && virtual_.site_of(i) == card_.site_of(j);
  }

  bool agree_from(std::size_t i, std::size_t j) const {
    const std::size_t of_virtual = virtual_.events.size() - i;
    const std::size_t of_card = card_.events.size() - j;
    if (of_virtual == 0 || of_card == 0) return of_virtual == of_card;
    // Between events that agree a library may have taken a workspace.
    for (std::size_t seen = 0; seen < kAgreement; ++j) {
      if (i == virtual_.events.size() || j == card_.events.size()) return true;
      if (agree(i, j)) {
        ++seen;
        ++i;
      } else if (seen == 0 || !belongs_to_workspace(j)) {
        return false;
      }
    }
    return true;
  }

  std::pair<std::size_t, std::size_t> nearest_agreement(std::size_t i, std::size_t j) const {
    for (std::size_t skipped = 1; skipped <= kWindow; ++skipped) {
      for (std::size_t of_card = 0; of_card <= skipped; ++of_card) {
        const std::size_t next_i = i + skipped - of_card;
        const std::size_t next_j = j + of_card;
        if (next_i > virtual_.events.size() || next_j > card_.events.size()) continue;
        if (agree_from(next_i, next_j)) return {next_i, next_j};
      }
    }
    return {virtual_.events.size(), card_.events.size()};
  }

  /// Whether an event of the card is a library's workspace, or the segment that one needed.
  bool belongs_to_workspace(std::size_t j) const {
    const auto is_workspace = [&](std::size_t index) {
      return index < card_.events.size() && card_.events[index].category == Category::workspace;
    };
    const bool is_segment = card_.events[j].action == EventAction::segment_alloc;
    return is_workspace(j) || (is_segment && is_workspace(j + 1));
  }

  /// What is on the card alone: a library's workspace, or a difference.
  void note_on_card(std::size_t begin, std::size_t end) {
    for (std::size_t j = begin; j < end; ++j) {
      const MemoryEvent& event = card_.events[j];
      if (!belongs_to_workspace(j)) {
        note(true, j, card_);
      } else if (event.action == EventAction::alloc) {
        note_workspace(std::string(card_.site_of(j).op), static_cast<std::int64_t>(event.bytes));
      }
    }
  }

  void note_workspace(const std::string& op, std::int64_t bytes) {
    std::vector<LibraryWorkspace>& all = found_.workspaces;
    auto known =
        std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.op == op; });
    if (known == all.end()) known = all.insert(known, LibraryWorkspace{op, 0, 0});
    known->largest_bytes = std::max(known->largest_bytes, bytes);
    ++known->calls;
  }

  void note(bool is_on_card, std::size_t ordinal, const RecordedEvents& side) {
    if (found_.differences.size() >= VerifiedVariant::kMaxDifferences) {
      ++found_.other_differences;
      return;
    }
    const MemoryEvent& event = side.events[ordinal];
    found_.differences.push_back({is_on_card, static_cast<std::int64_t>(ordinal),
                                  text_of(event, side.site_of(ordinal)),
                                  static_cast<std::int64_t>(event.bytes)});
  }

  const RecordedEvents& virtual_;
  const RecordedEvents& card_;
  VerifiedVariant& found_;
};

}  // namespace

void compare_events(const RecordedEvents& on_virtual, const RecordedEvents& on_card,
                    VerifiedVariant& found) {
  EventComparison(on_virtual, on_card, found).run();
}

}  // namespace ohm::engine
