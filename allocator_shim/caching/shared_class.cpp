#include "allocator_shim/caching/shared_class.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ohm {

// ---- sorted -------------------------------------------------------------------------------------

SortedBlocks::Position SortedBlocks::first_below(const BlockKey& key) const {
  std::size_t run = 0;
  if (runs_.size() > 1) {
    const auto is_not_below = [&](const Run& r) { return !(r.back().key < key); };
    run = static_cast<std::size_t>(
        std::partition_point(runs_.begin(), std::prev(runs_.end()), is_not_below) - runs_.begin());
  }
  // A search without a branch that could be mispredicted: halve, and add the half or nothing.
  const Run& entries = runs_[run];
  std::size_t begin = 0;
  for (std::size_t length = entries.size(); length > 0;) {
    const std::size_t half = (length + 1) / 2;
    const bool is_behind = !(entries[begin + half - 1].key < key);
    begin += is_behind ? half : 0;
    length -= half;
  }
  return {run, begin};
}

void SortedBlocks::insert(Block& block) {
  const Position position = first_below(BlockKey(block));
  Run& run = runs_[position.run];
  run.insert(run.begin() + static_cast<std::ptrdiff_t>(position.entry),
             KeyedBlock{BlockKey(block), &block});
  if (run.size() <= kMaxRun) return;
  const auto middle = run.begin() + static_cast<std::ptrdiff_t>(run.size() / 2);
  Run lower(middle, run.end());
  run.erase(middle, run.end());
  runs_.insert(runs_.begin() + static_cast<std::ptrdiff_t>(position.run) + 1, std::move(lower));
}

void SortedBlocks::erase(const Block& block) {
  // The first entry below the next key is the block itself.
  const Position position = first_below(BlockKey(block).next());
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

Block* SortedBlocks::first_from(const BlockKey& key) const {
  const Position position = first_below(key);
  if (position.entry > 0) return runs_[position.run][position.entry - 1].block;
  return position.run > 0 ? runs_[position.run - 1].back().block : nullptr;
}

Block* SortedBlocks::last_before(const BlockKey& key) const {
  const Position position = first_below(key);
  const Run& run = runs_[position.run];
  return position.entry < run.size() ? run[position.entry].block : nullptr;
}

// ---- a bag or sorted ----------------------------------------------------------------------------

namespace {

bool has_smaller_key(const KeyedBlock& a, const KeyedBlock& b) { return a.key < b.key; }

}  // namespace

bool SharedClass::may_look_through() {
  if (bag_.size() <= kSmallBag) return true;
  if (bag_.size() <= patience_) {
    patience_ -= bag_.size();
    return true;
  }
  become_sorted();
  return false;
}

void SharedClass::become_sorted() {
  sorted_ = std::make_unique<SortedBlocks>();
  for (const KeyedBlock& member : bag_) sorted_->insert(*member.block);
  bag_ = {};
}

Block& SharedClass::take_first() {
  if (sorted_ || !may_look_through()) return sorted_->take_first();
  const auto first = std::min_element(bag_.begin(), bag_.end(), has_smaller_key);
  Block& block = *first->block;
  erase_from_bag(static_cast<std::size_t>(first - bag_.begin()));
  return block;
}

Block* SharedClass::find_from(const BlockKey& key) {
  if (!sorted_) may_look_through();
  return first_from(key);
}

Block* SharedClass::last() const {
  if (sorted_) return sorted_->last();
  return std::max_element(bag_.begin(), bag_.end(), has_smaller_key)->block;
}

Block* SharedClass::first_from(const BlockKey& key) const {
  if (sorted_) return sorted_->first_from(key);
  const KeyedBlock* best = nullptr;
  for (const KeyedBlock& member : bag_) {
    if (!(member.key < key) && (best == nullptr || member.key < best->key)) best = &member;
  }
  return best != nullptr ? best->block : nullptr;
}

Block* SharedClass::last_before(const BlockKey& key) const {
  if (sorted_) return sorted_->last_before(key);
  const KeyedBlock* best = nullptr;
  for (const KeyedBlock& member : bag_) {
    if (member.key < key && (best == nullptr || best->key < member.key)) best = &member;
  }
  return best != nullptr ? best->block : nullptr;
}

}  // namespace ohm
