#include "reports/history/live_memory.h"

#include <algorithm>

namespace ohm::reports {

void LiveMemory::add(const MemoryEvent& event, std::uint32_t time) {
  switch (event.action) {
    case EventAction::alloc:
      return add_block(event, time);
    case EventAction::free_requested:
      return request_free(event, time);
    case EventAction::free_completed:
      return complete_free(event, time);
    case EventAction::relabel:
      return relabel(event);
    case EventAction::segment_alloc:
    case EventAction::segment_map:
      return map(event.address, event.bytes, time);
    case EventAction::segment_free:
    case EventAction::segment_unmap:
      return unmap(event.address, event.bytes, time);
    case EventAction::snapshot:
    case EventAction::oom:
      return;
  }
}

void LiveMemory::count(const BlockSpan& block, std::int64_t sign) {
  const std::int64_t bytes = sign * static_cast<std::int64_t>(block.bytes);
  allocated_bytes_ += bytes;
  by_category_[static_cast<std::size_t>(block.category)] += bytes;
}

void LiveMemory::add_block(const MemoryEvent& event, std::uint32_t time) {
  // A record with holes: what was there has been freed unseen.
  if (live_.count(event.address) != 0) complete_free(event, time);
  BlockSpan block;
  block.address = event.address;
  block.bytes = event.block_bytes();
  block.begin = time;
  block.site = event.site;
  block.category = event.category;
  live_[event.address] = blocks_.size();
  blocks_.push_back(block);
  count(block, 1);
}

void LiveMemory::request_free(const MemoryEvent& event, std::uint32_t time) {
  const auto found = live_.find(event.address);
  if (found == live_.end()) return;
  BlockSpan& block = blocks_[found->second];
  if (block.freed != kStillThere) return;
  block.freed = time;
  count(block, -1);
}

void LiveMemory::complete_free(const MemoryEvent& event, std::uint32_t time) {
  const auto found = live_.find(event.address);
  if (found == live_.end()) return;
  request_free(event, time);
  blocks_[found->second].end = time;
  live_.erase(found);
}

void LiveMemory::relabel(const MemoryEvent& event) {
  const auto found = live_.find(event.address);
  if (found == live_.end()) return;
  BlockSpan& block = blocks_[found->second];
  const bool counts = block.freed == kStillThere;
  if (counts) count(block, -1);
  block.category = event.category;
  if (counts) count(block, 1);
}

void LiveMemory::map(std::uint64_t address, std::uint64_t bytes, std::uint32_t time) {
  unmap(address, bytes, time);
  mapped_[address] = segments_.size();
  segments_.push_back({address, bytes, time, kStillThere});
  reserved_bytes_ += static_cast<std::int64_t>(bytes);
}

void LiveMemory::unmap(std::uint64_t address, std::uint64_t bytes, std::uint32_t time) {
  const std::uint64_t end = address + bytes;
  auto next = mapped_.upper_bound(address);
  if (next != mapped_.begin()) --next;
  while (next != mapped_.end() && next->first < end) {
    const SegmentSpan piece = segments_[next->second];
    const std::uint64_t piece_end = piece.address + piece.bytes;
    if (piece_end <= address) {
      ++next;
      continue;
    }
    segments_[next->second].end = time;
    reserved_bytes_ -= static_cast<std::int64_t>(piece.bytes);
    next = mapped_.erase(next);
    // What is left of it on either side goes on as a piece of its own.
    if (piece.address < address) map(piece.address, address - piece.address, time);
    if (piece_end > end) map(end, piece_end - end, time);
  }
}

}  // namespace ohm::reports
