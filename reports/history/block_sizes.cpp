#include "reports/history/block_sizes.h"

#include <algorithm>
#include <iterator>
#include <limits>

#include "reports/history/native_frames.h"

namespace ohm::reports {

BlockSizes::BlockSizes(const Snapshot& snapshot, const RecordedBeginning& beginning)
    : max_split_size_(std::numeric_limits<std::uint64_t>::max()), segments_(beginning.ranges()) {
  if (snapshot.allocator_settings) {
    const SnapshotSettings& settings = *snapshot.allocator_settings;
    splits_to_the_unit_ = settings.expandable_segments;
    if (settings.max_split_size >= 0) {
      max_split_size_ = static_cast<std::uint64_t>(settings.max_split_size);
    }
    std::transform(settings.roundup_power2_divisions.begin(),
                   settings.roundup_power2_divisions.end(), divisions_.begin(),
                   [](std::int64_t divisions) { return static_cast<std::size_t>(divisions); });
  }
  // CUDA's own blocks leave the rest of their pages to nobody.
  splits_to_the_unit_ = splits_to_the_unit_ || is_of_native_program(snapshot);
  free_ = beginning.ranges();
  for (const auto& [address, block] : beginning.blocks()) {
    const std::uint64_t bytes = round_request(block.bytes, divisions_);
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
  if (rounded <= kSmallRequestBytes || splits_to_the_unit_) return rest >= kMinBlockBytes;
  return rounded < max_split_size_ && rest > kSmallRequestBytes;
}

std::uint64_t BlockSizes::allocate(std::uint64_t address, std::uint64_t requested) {
  std::uint64_t bytes = round_request(requested, divisions_);
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
