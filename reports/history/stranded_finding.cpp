#include "reports/history/stranded_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/text/measured_text.h"

namespace ohm::reports {

namespace {

constexpr std::int64_t kFewestStranded = std::int64_t{20} << 20;

struct UsedSegment {
  const HistorySegment* segment = nullptr;
  std::int64_t used = 0;
  std::vector<const HistoryBlock*> blocks;

  const HistoryBlock& smallest() const {
    return **std::min_element(blocks.begin(), blocks.end(),
                              [](const auto* a, const auto* b) { return a->bytes < b->bytes; });
  }
  /// The largest of the gaps between blocks.
  std::int64_t largest_piece() {
    std::sort(blocks.begin(), blocks.end(),
              [](const auto* a, const auto* b) { return a->position < b->position; });
    std::uint64_t at = segment->position;
    std::uint64_t largest = 0;
    for (const HistoryBlock* block : blocks) {
      largest = std::max(largest, block->position - std::min(at, block->position));
      at = block->position + block->bytes;
    }
    const std::uint64_t end = segment->position + segment->bytes;
    return static_cast<std::int64_t>(std::max(largest, end - std::min(at, end)));
  }
};

std::vector<UsedSegment> segments_at(const SteppedDevice& device, std::uint32_t event) {
  std::vector<UsedSegment> segments;
  for (const HistorySegment& segment : device.segments()) {
    if (segment.begin <= event && event < segment.end) segments.push_back({&segment, 0, {}});
  }
  std::sort(segments.begin(), segments.end(), [](const UsedSegment& a, const UsedSegment& b) {
    return a.segment->position < b.segment->position;
  });
  for (const HistoryBlock& block : device.blocks()) {
    if (!is_alive(block, event)) continue;
    auto at = std::upper_bound(segments.begin(), segments.end(), block.position,
                               [](std::uint64_t position, const UsedSegment& one) {
                                 return position < one.segment->position;
                               });
    if (at == segments.begin()) continue;
    UsedSegment& segment = *--at;
    segment.used += static_cast<std::int64_t>(block.bytes);
    segment.blocks.push_back(&block);
  }
  return segments;
}

}  // namespace

std::optional<FindingResult> stranded_finding(const SteppedDevice& device,
                                              std::int64_t request_bytes) {
  const std::optional<std::uint32_t> oom = device.history().oom_event;
  if (!oom || device.result().num_ooms == 0) return std::nullopt;
  std::int64_t reserved = 0;
  std::int64_t stranded = 0;
  std::int64_t largest = 0;
  std::size_t count = 0;
  FindingPlaces pins;
  for (UsedSegment& one : segments_at(device, *oom)) {
    const auto bytes = static_cast<std::int64_t>(one.segment->bytes);
    reserved += bytes;
    if (one.used <= 0 || one.used >= bytes) continue;
    stranded += bytes - one.used;
    largest = std::max(largest, one.largest_piece());
    ++count;
    pins.add(one.smallest());
  }
  const bool would_do = stranded >= std::max(kFewestStranded, request_bytes);
  if (!would_do || largest >= request_bytes || !is_share(stranded, reserved)) return std::nullopt;
  return device.finding(
      "stranded split segments", "fragmentation",
      fmt::format("out of memory at event {} with {} of {} reserved free, in {} segment{} partly "
                  "in use, at most {} in one piece: {} did not fit between the blocks that are in "
                  "use, of each segment the smallest below",
                  grouped(*oom), short_bytes(stranded), short_bytes(reserved), count,
                  count == 1 ? "" : "s", short_bytes(largest), short_bytes(request_bytes)),
      pins);
}

}  // namespace ohm::reports
