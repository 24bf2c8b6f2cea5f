#include "allocator_shim/interpose/segmented_memory.h"

#include <iterator>

namespace ohm::interpose {

std::optional<DeviceAddress> SegmentedMemory::take(std::size_t bytes) {
  auto best = free_.end();
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    if (range->second < bytes) continue;
    if (best == free_.end() || range->second < best->second) best = range;
  }
  if (best == free_.end()) return std::nullopt;
  const auto [address, range_bytes] = *best;
  const auto next = free_.erase(best);
  if (range_bytes > bytes) free_.emplace_hint(next, address + bytes, range_bytes - bytes);
  return address;
}

void SegmentedMemory::give_back(DeviceAddress address, std::size_t bytes) {
  auto next = free_.lower_bound(address);
  if (next != free_.end() && next->first == address + bytes && !begins_segment(next->first)) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin() && !begins_segment(address)) {
    const auto before = std::prev(next);
    if (before->first + before->second == address) {
      before->second += bytes;
      return;
    }
  }
  free_.emplace_hint(next, address, bytes);
}

void SegmentedMemory::add_segment(DeviceAddress address, std::size_t bytes) {
  segments_.emplace(address, bytes);
  free_.emplace(address, bytes);
  bytes_ += bytes;
}

bool SegmentedMemory::contains(DeviceAddress address, std::size_t bytes) const {
  const auto next = segments_.upper_bound(address);
  if (next == segments_.begin()) return false;
  const auto& [begin, segment_bytes] = *std::prev(next);
  const DeviceAddress offset = address - begin;
  return offset <= segment_bytes && bytes <= segment_bytes - offset;
}

std::optional<SegmentedMemory::Segment> SegmentedMemory::remove_free_segment() {
  for (const auto& [address, bytes] : segments_) {
    const auto range = free_.find(address);
    if (range == free_.end() || range->second != bytes) continue;
    const Segment found = {address, bytes};
    free_.erase(range);
    segments_.erase(address);
    bytes_ -= bytes;
    return found;
  }
  return std::nullopt;
}

}  // namespace ohm::interpose
