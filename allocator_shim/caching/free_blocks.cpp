#include "allocator_shim/caching/free_blocks.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ohm {

FreeBlocks::FreeBlocks()
    : first_(std::make_unique_for_overwrite<Block*[]>(kClasses)),
      others_(std::make_unique_for_overwrite<SharedClass*[]>(kClasses)) {}

void FreeBlocks::add_to_others(std::size_t size_class, Block& block) {
  if (!has(made_, size_class)) {
    others_[size_class] = shared_classes_.emplace_back(std::make_unique<SharedClass>()).get();
    set(made_, size_class);
  }
  Block*& first = first_[size_class];
  if (BlockKey(block) < BlockKey(*first)) {
    others_[size_class]->insert(*std::exchange(first, &block));
  } else {
    others_[size_class]->insert(block);
  }
  set(shared_, size_class);
}

void FreeBlocks::erase_from_shared_class(std::size_t size_class, const Block& block) {
  SharedClass& others = *others_[size_class];
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
    const SharedClass& others = *others_[size_class];
    if (Block* const next = others.first_from(BlockKey(block).next())) return next;
  }
  return first_in_class_from(size_class + 1);
}

Block* FreeBlocks::before(const Block& block) const {
  const std::size_t size_class = class_of(block.bytes);
  if (first_[size_class] != &block) {
    Block* const other = others_[size_class]->last_before(BlockKey(block));
    return other != nullptr ? other : first_[size_class];
  }
  return last_in_class(class_below(size_class));
}

}  // namespace ohm
