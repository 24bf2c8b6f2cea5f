#include "allocator_shim/caching/free_blocks.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ohm {

// ---- several blocks -----------------------------------------------------------------------------

SortedBlocks::Position SortedBlocks::first_before(std::size_t bytes, DeviceAddress address) const {
  std::size_t run = 0;
  if (runs_.size() > 1) {
    const auto is_not_before = [&](const Run& r) { return !is_before(r.back(), bytes, address); };
    run = static_cast<std::size_t>(
        std::partition_point(runs_.begin(), std::prev(runs_.end()), is_not_before) - runs_.begin());
  }
  // A search without a branch that could be mispredicted: halve, and add the half or nothing.
  const Run& entries = runs_[run];
  std::size_t begin = 0;
  for (std::size_t length = entries.size(); length > 0;) {
    const std::size_t half = (length + 1) / 2;
    const bool is_behind = !is_before(entries[begin + half - 1], bytes, address);
    begin += is_behind ? half : 0;
    length -= half;
  }
  return {run, begin};
}

void SortedBlocks::insert(Block& block) {
  if (runs_.empty()) runs_.emplace_back();
  const Position position = first_before(block.bytes, block.address);
  Run& run = runs_[position.run];
  run.insert(run.begin() + static_cast<std::ptrdiff_t>(position.entry),
             Entry{block.bytes, block.address, &block});
  if (run.size() <= kMaxRun) return;
  const auto middle = run.begin() + static_cast<std::ptrdiff_t>(run.size() / 2);
  Run lower(middle, run.end());
  run.erase(middle, run.end());
  runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(position.run) + 1, std::move(lower));
}

void SortedBlocks::erase(const Block& block) {
  // The first entry that is before the next address of this size is the block itself.
  const Position position = first_before(block.bytes, block.address + 1);
  Run& run = runs_[position.run];
  OHM_ASSERT(position.entry < run.size() && run[position.entry].block == &block,
             "block is not in its pool");
  run.erase(run.begin() + static_cast<std::ptrdiff_t>(position.entry));
  drop_if_empty(position.run);
}

Block& SortedBlocks::take_first() {
  Block& first = *runs_.back().back().block;
  runs_.back().pop_back();
  drop_if_empty(runs_.size() - 1);
  return first;
}

void SortedBlocks::drop_if_empty(std::size_t run) {
  if (!runs_[run].empty() || runs_.size() == 1) return;
  runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(run));
}

Block* SortedBlocks::lower_bound(std::size_t bytes, DeviceAddress address) const {
  const Position position = first_before(bytes, address);
  if (position.entry > 0) return runs_[position.run][position.entry - 1].block;
  return position.run > 0 ? runs_[position.run - 1].back().block : nullptr;
}

Block* SortedBlocks::last_before(std::size_t bytes, DeviceAddress address) const {
  const Position position = first_before(bytes, address);
  const Run& run = runs_[position.run];
  return position.entry < run.size() ? run[position.entry].block : nullptr;
}

// ---- all classes --------------------------------------------------------------------------------

FreeBlocks::FreeBlocks() : first_(kClasses), others_(kClasses) {}

void FreeBlocks::add_to_others(std::size_t size_class, Block& block) {
  std::unique_ptr<SortedBlocks>& others = others_[size_class];
  if (!others) others = std::make_unique<SortedBlocks>();
  Block*& first = first_[size_class];
  if (comes_before(block, *first)) {
    others->insert(*std::exchange(first, &block));
  } else {
    others->insert(block);
  }
  set(shared_, size_class);
}

void FreeBlocks::erase_from_shared_class(std::size_t size_class, const Block& block) {
  SortedBlocks& others = *others_[size_class];
  if (first_[size_class] == &block) {
    first_[size_class] = &others.take_first();
  } else {
    others.erase(block);
  }
  if (others.empty()) clear(shared_, size_class);
}

std::size_t FreeBlocks::class_below(std::size_t size_class) const {
  for (std::size_t word = (size_class + 63) / 64; word-- > 0;) {
    std::uint64_t here = occupied_[word];
    if (word == size_class / 64) here &= (std::uint64_t{1} << (size_class % 64)) - 1;
    if (here != 0) return word * 64 + 63 - static_cast<std::size_t>(std::countl_zero(here));
  }
  return kNoClass;
}

Block* FreeBlocks::last_in_class(std::size_t size_class) const {
  if (size_class == kNoClass) return nullptr;
  return has(shared_, size_class) ? others_[size_class]->last() : first_[size_class];
}

Block* FreeBlocks::largest() const { return last_in_class(class_below(kClasses)); }

Block* FreeBlocks::after(const Block& block) const {
  const std::size_t size_class = class_of(block.bytes);
  if (has(shared_, size_class)) {
    const SortedBlocks& others = *others_[size_class];
    if (Block* const next = others.lower_bound(block.bytes, block.address + 1)) return next;
  }
  return first_in_class_from(size_class + 1);
}

Block* FreeBlocks::before(const Block& block) const {
  const std::size_t size_class = class_of(block.bytes);
  if (first_[size_class] != &block) {
    Block* const other = others_[size_class]->last_before(block.bytes, block.address);
    return other != nullptr ? other : first_[size_class];
  }
  return last_in_class(class_below(size_class));
}

}  // namespace ohm
