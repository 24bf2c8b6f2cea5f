#include "allocator_shim/interpose/host/live_blocks.h"

#include <algorithm>

#include "allocator_shim/interpose/host/own_memory.h"

namespace ohm::interpose::host {

bool LiveBlocks::prepare() {
  slots_ = own_memory<LiveBlock>(kFirstSlots);
  size_ = kFirstSlots;
  return slots_ != nullptr;
}

/// Blocks are 16 bytes apart at least.
std::size_t LiveBlocks::slot_of(std::uintptr_t address) const {
  return ((address >> 4) * 0x9e3779b97f4a7c15 >> 20) & (size_ - 1);
}

bool LiveBlocks::add(const LiveBlock& block) {
  LiveBlock replaced;
  take(block.address, replaced);
  if (count_ * 2 >= size_ && !grow()) return false;
  put(block);
  ++count_;
  return true;
}

void LiveBlocks::put(const LiveBlock& block) {
  std::size_t slot = slot_of(block.address);
  while (slots_[slot].address != 0) slot = (slot + 1) & (size_ - 1);
  slots_[slot] = block;
}

bool LiveBlocks::grow() {
  LiveBlock* const old = slots_;
  const std::size_t old_size = size_;
  LiveBlock* const larger = own_memory<LiveBlock>(old_size * 2);
  if (larger == nullptr) return false;
  slots_ = larger;
  size_ = old_size * 2;
  for (std::size_t i = 0; i < old_size; ++i) {
    if (old[i].address != 0) put(old[i]);
  }
  release_own_memory(old, old_size);
  return true;
}

const LiveBlock* LiveBlocks::find(std::uintptr_t address) const {
  for (std::size_t slot = slot_of(address); slots_[slot].address != 0;
       slot = (slot + 1) & (size_ - 1)) {
    if (slots_[slot].address == address) return &slots_[slot];
  }
  return nullptr;
}

bool LiveBlocks::take(std::uintptr_t address, LiveBlock& block) {
  const LiveBlock* const known = find(address);
  if (known == nullptr) return false;
  block = *known;
  --count_;
  // What comes after the hole moves up to it, unless it would come before where it belongs.
  auto hole = static_cast<std::size_t>(known - slots_);
  for (std::size_t i = (hole + 1) & (size_ - 1); slots_[i].address != 0;
       i = (i + 1) & (size_ - 1)) {
    const std::size_t home = slot_of(slots_[i].address);
    if (((i - home) & (size_ - 1)) < ((i - hole) & (size_ - 1))) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole] = {};
  return true;
}

bool LiveRanges::prepare() {
  ranges_ = own_memory<LiveBlock>(kMostRanges);
  return ranges_ != nullptr;
}

bool LiveRanges::add(const LiveBlock& range) {
  if (count_ == kMostRanges) return false;
  ranges_[count_++] = range;
  return true;
}

bool LiveRanges::take_overlap(std::uintptr_t begin, std::uint64_t bytes, LiveBlock& piece) {
  const std::uintptr_t end = begin + bytes;
  for (std::size_t i = 0; i < count_; ++i) {
    const LiveBlock range = ranges_[i];
    const std::uintptr_t range_end = range.address + range.bytes;
    if (range.address >= end || range_end <= begin) continue;
    const std::uintptr_t piece_begin = std::max(begin, range.address);
    const std::uintptr_t piece_end = std::min(end, range_end);
    piece = {piece_begin, piece_end - piece_begin, range.site};
    ranges_[i] = ranges_[--count_];
    if (range.address < piece_begin) {
      add({range.address, piece_begin - range.address, range.site});
    }
    if (piece_end < range_end) add({piece_end, range_end - piece_end, range.site});
    return true;
  }
  return false;
}

}  // namespace ohm::interpose::host
