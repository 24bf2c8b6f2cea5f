#include "allocator_shim/caching/free_blocks.h"

#include <algorithm>
#include <iterator>

#include "allocator_shim/observe/assert.h"

namespace ohm {
namespace {

constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

}  // namespace

SortedBlocks::Position SortedBlocks::first_before(std::size_t bytes, DeviceAddress address) const {
  const auto run = std::partition_point(runs_.begin(), runs_.end(), [&](const Run& r) {
    return !is_before(r.back(), bytes, address);
  });
  if (run == runs_.end()) return {runs_.size(), 0};
  const auto entry = std::partition_point(
      run->begin(), run->end(), [&](const Entry& e) { return !is_before(e, bytes, address); });
  return {static_cast<std::size_t>(run - runs_.begin()),
          static_cast<std::size_t>(entry - run->begin())};
}

void SortedBlocks::insert(Block& block) {
  const Entry entry = {block.bytes, block.address, &block};
  if (runs_.empty()) {
    runs_.push_back({entry});
    return;
  }
  Position position = first_before(block.bytes, block.address);
  if (position.run == runs_.size()) {
    --position.run;
    position.entry = runs_[position.run].size();
  }
  Run& run = runs_[position.run];
  run.insert(run.begin() + static_cast<std::ptrdiff_t>(position.entry), entry);
  if (run.size() <= kMaxRun) return;
  const auto middle = run.begin() + static_cast<std::ptrdiff_t>(run.size() / 2);
  Run lower(middle, run.end());
  run.erase(middle, run.end());
  runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(position.run) + 1, std::move(lower));
}

void SortedBlocks::erase(const Block& block) {
  // The first entry that is before the next address of this size is the block itself.
  const Position position = first_before(block.bytes, block.address + 1);
  OHM_ASSERT(position.run < runs_.size(), "block is not in its pool");
  Run& run = runs_[position.run];
  OHM_ASSERT(run[position.entry].block == &block, "block is not in its pool");
  run.erase(run.begin() + static_cast<std::ptrdiff_t>(position.entry));
  if (run.empty()) runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(position.run));
}

Block* SortedBlocks::lower_bound(std::size_t bytes, DeviceAddress address) const {
  const Position position = first_before(bytes, address);
  if (position.run < runs_.size() && position.entry > 0) {
    return runs_[position.run][position.entry - 1].block;
  }
  return position.run > 0 ? runs_[position.run - 1].back().block : nullptr;
}

Block* SortedBlocks::last_before(std::size_t bytes, DeviceAddress address) const {
  const Position position = first_before(bytes, address);
  return position.run < runs_.size() ? runs_[position.run][position.entry].block : nullptr;
}

FreeBlocks::FreeBlocks() : slots_(kClasses) {}

void FreeBlocks::mark(std::size_t size_class) {
  const std::size_t word = size_class / 64;
  bitmap_[word] |= std::uint64_t{1} << (size_class % 64);
  summary_[word / 64] |= std::uint64_t{1} << (word % 64);
}

void FreeBlocks::unmark(std::size_t size_class) {
  const std::size_t word = size_class / 64;
  bitmap_[word] &= ~(std::uint64_t{1} << (size_class % 64));
  if (bitmap_[word] == 0) summary_[word / 64] &= ~(std::uint64_t{1} << (word % 64));
}

std::size_t FreeBlocks::class_from(std::size_t size_class) const {
  if (size_class >= kClasses) return kNoClass;
  const std::size_t word = size_class / 64;
  const std::uint64_t here = bitmap_[word] & (kAllBits << (size_class % 64));
  if (here != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(here));
  std::uint64_t mask = word % 64 == 63 ? 0 : kAllBits << (word % 64 + 1);
  for (std::size_t i = word / 64; i < kSummaryWords; ++i, mask = kAllBits) {
    const std::uint64_t words = summary_[i] & mask;
    if (words == 0) continue;
    const std::size_t next = i * 64 + static_cast<std::size_t>(std::countr_zero(words));
    return next * 64 + static_cast<std::size_t>(std::countr_zero(bitmap_[next]));
  }
  return kNoClass;
}

std::size_t FreeBlocks::class_below(std::size_t size_class) const {
  for (std::size_t word = (size_class + 63) / 64; word-- > 0;) {
    std::uint64_t here = bitmap_[word];
    if (word == size_class / 64) here &= ~(kAllBits << (size_class % 64));
    if (here != 0) return word * 64 + 63 - static_cast<std::size_t>(std::countl_zero(here));
  }
  return kNoClass;
}

void FreeBlocks::insert(Block& block) {
  const std::size_t size_class = class_of(block.bytes);
  Slot& slot = slots_[size_class];
  if (slot.several) {
    slot.several->insert(block);
  } else if (slot.single == nullptr) {
    slot.single = &block;
  } else {
    slot.several = std::make_unique<SortedBlocks>();
    slot.several->insert(*slot.single);
    slot.several->insert(block);
    slot.single = nullptr;
  }
  mark(size_class);
}

void FreeBlocks::erase(const Block& block) {
  const std::size_t size_class = class_of(block.bytes);
  Slot& slot = slots_[size_class];
  if (slot.several) {
    slot.several->erase(block);
    if (slot.several->empty()) unmark(size_class);
    return;
  }
  OHM_ASSERT(slot.single == &block, "block is not in its pool");
  slot.single = nullptr;
  unmark(size_class);
}

Block* FreeBlocks::first_in_class_from(std::size_t size_class) const {
  const std::size_t found = class_from(size_class);
  if (found == kNoClass) return nullptr;
  const Slot& slot = slots_[found];
  return slot.several ? slot.several->first() : slot.single;
}

Block* FreeBlocks::smallest_at_least(std::size_t bytes) const {
  const std::size_t size_class = class_of(bytes);
  const Slot& slot = slots_[size_class];
  if (slot.several && !slot.several->empty()) {
    if (Block* const block = slot.several->lower_bound(bytes, 0)) return block;
  } else if (slot.single != nullptr && slot.single->bytes >= bytes) {
    return slot.single;
  }
  return first_in_class_from(size_class + 1);
}

Block* FreeBlocks::largest() const {
  const std::size_t found = class_below(kClasses);
  if (found == kNoClass) return nullptr;
  const Slot& slot = slots_[found];
  return slot.several ? slot.several->last() : slot.single;
}

Block* FreeBlocks::after(const Block& block) const {
  const std::size_t size_class = class_of(block.bytes);
  const Slot& slot = slots_[size_class];
  if (slot.several) {
    if (Block* const next = slot.several->lower_bound(block.bytes, block.address + 1)) return next;
  }
  return first_in_class_from(size_class + 1);
}

Block* FreeBlocks::before(const Block& block) const {
  const std::size_t size_class = class_of(block.bytes);
  const Slot& slot = slots_[size_class];
  if (slot.several) {
    if (Block* const last = slot.several->last_before(block.bytes, block.address)) return last;
  }
  const std::size_t found = class_below(size_class);
  if (found == kNoClass) return nullptr;
  const Slot& lower = slots_[found];
  return lower.several ? lower.several->last() : lower.single;
}

}  // namespace ohm
