#include "allocator_shim/interpose/host/live_blocks.h"

#include <algorithm>

namespace ohm::interpose::host {

bool LiveBlocks::prepare() { return slots_.reserve(kFirstSlots); }

/// Blocks are 16 bytes apart at least.
std::size_t LiveBlocks::slot_of(std::uintptr_t address) const {
  return ((address >> 4) * 0x9e3779b97f4a7c15 >> 20) & (slots_.size() - 1);
}

bool LiveBlocks::add(const LiveBlock& block) {
  LiveBlock replaced;
  take(block.address, replaced);
  if (count_ * 2 >= slots_.size() && !grow()) return false;
  put(block);
  ++count_;
  return true;
}

void LiveBlocks::put(const LiveBlock& block) {
  std::size_t slot = slot_of(block.address);
  while (slots_[slot].address != 0) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = block;
}

bool LiveBlocks::grow() {
  OwnTable<LiveBlock> old(OwnPlace::blocks);
  if (!slots_.replace(slots_.size() * 2, old)) return false;
  for (std::size_t i = 0; i < old.size(); ++i) {
    if (old[i].address != 0) put(old[i]);
  }
  old.release();
  return true;
}

const LiveBlock* LiveBlocks::find(std::uintptr_t address) const {
  for (std::size_t slot = slot_of(address); slots_[slot].address != 0;
       slot = (slot + 1) & (slots_.size() - 1)) {
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
  auto hole = static_cast<std::size_t>(known - slots_.data());
  for (std::size_t i = (hole + 1) & (slots_.size() - 1); slots_[i].address != 0;
       i = (i + 1) & (slots_.size() - 1)) {
    const std::size_t home = slot_of(slots_[i].address);
    if (((i - home) & (slots_.size() - 1)) < ((i - hole) & (slots_.size() - 1))) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole] = {};
  return true;
}

bool LiveRanges::prepare() { return ranges_.reserve(kFirstRanges); }

bool LiveRanges::add(const LiveBlock& range) {
  if (count_ == kMostRanges || !ranges_.reserve(count_ + 1)) return false;
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
