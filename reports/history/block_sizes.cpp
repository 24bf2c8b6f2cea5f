#include "reports/history/block_sizes.h"

#include <algorithm>
#include <iterator>

#include "allocator_shim/caching/size_policy.h"

namespace ohm::reports {

namespace {

AllocatorSettings settings_of(const Snapshot& snapshot) {
  AllocatorSettings settings;
  if (!snapshot.allocator_settings) return settings;
  const SnapshotSettings& recorded = *snapshot.allocator_settings;
  settings.expandable_segments = recorded.expandable_segments;
  if (recorded.max_split_size >= 0) {
    settings.max_split_size_bytes = static_cast<std::size_t>(recorded.max_split_size);
  }
  std::transform(recorded.roundup_power2_divisions.begin(), recorded.roundup_power2_divisions.end(),
                 settings.roundup_power2_divisions.begin(),
                 [](std::int64_t divisions) { return static_cast<std::size_t>(divisions); });
  return settings;
}

}  // namespace

BlockSizes::BlockSizes(const Snapshot& snapshot, const RecordedBeginning& beginning)
    : settings_(settings_of(snapshot)), segments_(beginning.ranges()) {
  for (const auto& [address, bytes] : beginning.ranges()) free_[address] = bytes;
  for (const auto& [address, block] : beginning.blocks()) {
    const std::uint64_t bytes = round_request(block.bytes, settings_);
    remove_free(address, bytes);
    blocks_[address] = bytes;
  }
}

std::uint64_t BlockSizes::follow(const TraceEntry& entry) {
  switch (entry.action) {
    case EventAction::alloc:
      return allocate(entry.address, entry.bytes);
    case EventAction::free_completed:
      release(entry.address);
      break;
    case EventAction::segment_alloc:
      segments_[entry.address] = entry.bytes;
      add_free(entry.address, entry.bytes);
      break;
    case EventAction::segment_map:
      add_free(entry.address, entry.bytes);
      break;
    case EventAction::segment_free:
      segments_.erase(entry.address);
      [[fallthrough]];
    case EventAction::segment_unmap:
      remove_free(entry.address, entry.bytes);
      break;
    default:
      break;
  }
  return 0;
}

bool BlockSizes::is_split(std::uint64_t rounded, std::uint64_t rest) const {
  if (rounded <= kSmallRequestBytes || settings_.expandable_segments) return rest >= kMinBlockBytes;
  return rounded < settings_.max_split_size_bytes && rest > kSmallRequestBytes;
}

std::uint64_t BlockSizes::allocate(std::uint64_t address, std::uint64_t requested) {
  std::uint64_t bytes = round_request(requested, settings_);
  const auto found = free_.find(address);
  const bool is_known = found != free_.end() && found->second >= bytes;
  if (is_known && !is_split(bytes, found->second - bytes)) bytes = found->second;
  remove_free(address, bytes);
  blocks_[address] = bytes;
  return bytes;
}

void BlockSizes::release(std::uint64_t address) {
  const auto block = blocks_.find(address);
  if (block == blocks_.end()) return;
  add_free(address, block->second);
  blocks_.erase(block);
}

void BlockSizes::add_free(std::uint64_t address, std::uint64_t bytes) {
  const auto after = free_.find(address + bytes);
  if (after != free_.end() && !begins_segment(after->first)) {
    bytes += after->second;
    free_.erase(after);
  }
  const auto above = free_.lower_bound(address);
  if (above != free_.begin() && !begins_segment(address)) {
    const auto before = std::prev(above);
    if (before->first + before->second == address) {
      before->second += bytes;
      return;
    }
  }
  free_[address] = bytes;
}

/// What is free of the range is so no more; a part of a free range is cut out of it.
void BlockSizes::remove_free(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  auto next = free_.upper_bound(address);
  if (next != free_.begin()) --next;
  while (next != free_.end() && next->first < end) {
    const auto [begin, length] = *next;
    if (begin + length <= address) {
      ++next;
      continue;
    }
    next = free_.erase(next);
    if (begin < address) free_[begin] = address - begin;
    if (begin + length > end) free_[end] = begin + length - end;
  }
}

}  // namespace ohm::reports
