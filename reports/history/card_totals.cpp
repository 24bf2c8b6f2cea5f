#include "reports/history/card_totals.h"

#include <algorithm>

namespace ohm::reports {

CardTotals::CardTotals(const Snapshot& snapshot, const RecordedBeginning& beginning,
                       std::size_t device)
    : snapshot_(snapshot), ranges_(beginning.mapped()) {
  for (const auto& [address, block] : beginning.blocks()) {
    blocks_[address] = {block.bytes, block.bytes};
  }
  for (const SnapshotSegment& segment : snapshot.segments) {
    if (static_cast<std::size_t>(segment.device) != device) continue;
    is_expandable_ = is_expandable_ || segment.is_expandable;
    if (segment.pool == kNormalPool) continue;
    private_.push_back({segment.address, segment.address + segment.bytes});
  }
}

void CardTotals::add(const TraceEntry& entry, std::uint64_t block_bytes) {
  switch (entry.action) {
    case EventAction::alloc:
      blocks_[entry.address] = {block_bytes, entry.bytes};
      break;
    case EventAction::free_completed:
      blocks_.erase(entry.address);
      break;
    case EventAction::segment_map:
      is_expandable_ = true;
      [[fallthrough]];
    case EventAction::segment_alloc:
      ranges_.map(entry.address, entry.bytes);
      if (snapshot_.detail(entry).pool != kNormalPool) private_starts_.insert(entry.address);
      break;
    case EventAction::segment_free:
    case EventAction::segment_unmap:
      ranges_.unmap(entry.address, entry.bytes);
      private_starts_.erase(entry.address);
      break;
    default:
      break;
  }
}

bool CardTotals::is_private(std::uint64_t address) const {
  if (private_starts_.contains(address)) return true;
  return std::any_of(private_.begin(), private_.end(), [address](const Range& range) {
    return range.begin <= address && address < range.end;
  });
}

std::int64_t CardTotals::reserved_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [address, length] : ranges_.all()) bytes += length;
  return static_cast<std::int64_t>(bytes);
}

std::int64_t CardTotals::rounding_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [address, block] : blocks_) {
    bytes += block.bytes - std::min(block.bytes, block.requested);
  }
  return static_cast<std::int64_t>(bytes);
}

std::int64_t CardTotals::private_pool_bytes() const {
  std::uint64_t bytes = 0;
  std::vector<Range> ranges;
  for (const auto& [address, length] : ranges_.all()) {
    if (!is_private(address)) continue;
    ranges.push_back({address, address + length});
    bytes += length;
  }
  for (const auto& [address, block] : blocks_) {
    const auto behind = std::upper_bound(
        ranges.begin(), ranges.end(), address,
        [](std::uint64_t value, const Range& range) { return value < range.begin; });
    if (behind == ranges.begin() || std::prev(behind)->end <= address) continue;
    bytes -= std::min(bytes, block.bytes);
  }
  return static_cast<std::int64_t>(bytes);
}

}  // namespace ohm::reports
