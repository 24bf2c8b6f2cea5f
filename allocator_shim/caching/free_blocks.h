// The free blocks of one stream and pool, in order of size, then segment, then address.
//
// Note [Size classes]
// A tree of blocks costs a cache miss for each level. Here a block's size gives its class directly
// (every multiple of 512 below 2 MiB is a class of its own, above there are 512 classes for each
// power of two), and a bitmap over the classes with a second one over its words gives the next
// class that is not empty. A table holds the first block of each class, which is all that most
// classes have; the others of a class stand in sorted arrays short enough to shift. Tables are read
// only where the bitmaps say that something stands there, so that they need no clearing: pools
// are made far more often than their tables fill.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/caching/block.h"
#include "allocator_shim/caching/shared_class.h"

namespace ohm {

class FreeBlocks {
 public:
  FreeBlocks();
  FreeBlocks(FreeBlocks&&) = default;

  void insert(Block& block);
  void erase(const Block& block);

  /// Removes and returns the first block of exactly `bytes`; nullptr if there is none, if it is an
  /// expandable one, or if `bytes` is too large for a class of its own.
  Block* take_exactly(std::size_t bytes);

  /// The smallest block of at least `bytes`, the first one of equals; or nullptr.
  Block* smallest_at_least(std::size_t bytes);
  Block* largest() const;
  Block* smallest() const { return first_in_class_from(0); }
  /// Neighbours in order; nullptr at the ends. `block` is a member.
  Block* after(const Block& block) const;
  Block* before(const Block& block) const;

 private:
  static constexpr std::size_t kExactClasses = 4096;  ///< sizes below 2 MiB
  static constexpr int kExactBits = 12;
  static_assert(kExactClasses == std::size_t{1} << kExactBits);
  static constexpr int kDivisionBits = 9;
  static constexpr int kLargestBits = 35;  ///< 2^44 bytes; all larger blocks share the last class
  static constexpr std::size_t kClasses =
      kExactClasses + (static_cast<std::size_t>(kLargestBits - kExactBits + 1) << kDivisionBits);
  static constexpr std::size_t kWords = (kClasses + 63) / 64;
  static constexpr std::size_t kSummaryWords = (kWords + 63) / 64;
  static constexpr std::size_t kNoClass = kClasses;

  static std::size_t class_of(std::size_t bytes) {
    const std::size_t units = bytes >> 9U;
    if (units < kExactClasses) return units;
    const int exponent = static_cast<int>(std::bit_width(units)) - 1;
    const std::size_t division =
        (units >> static_cast<unsigned>(exponent - kDivisionBits)) & ((1U << kDivisionBits) - 1);
    const std::size_t size_class =
        kExactClasses + (static_cast<std::size_t>(exponent - kExactBits) << kDivisionBits) +
        division;
    return std::min(size_class, kClasses - 1);
  }

  using Bitmap = std::array<std::uint64_t, kWords>;
  static bool has(const Bitmap& bitmap, std::size_t size_class) {
    return (bitmap[size_class / 64] >> (size_class % 64) & 1U) != 0;
  }
  static void set(Bitmap& bitmap, std::size_t size_class) {
    bitmap[size_class / 64] |= std::uint64_t{1} << (size_class % 64);
  }
  static void clear(Bitmap& bitmap, std::size_t size_class) {
    bitmap[size_class / 64] &= ~(std::uint64_t{1} << (size_class % 64));
  }

  void unmark(std::size_t size_class) {
    const std::size_t word = size_class / 64;
    clear(occupied_, size_class);
    if (occupied_[word] == 0) summary_[word / 64] &= ~(std::uint64_t{1} << (word % 64));
  }
  void add_to_others(std::size_t size_class, Block& block);
  void erase_from_shared_class(std::size_t size_class, const Block& block);
  /// The first class from `size_class` on that holds a block, or kNoClass.
  std::size_t class_from(std::size_t size_class) const;
  /// The last class below `size_class` that holds a block, or kNoClass.
  std::size_t class_below(std::size_t size_class) const;
  Block* first_in_class_from(std::size_t size_class) const;
  Block* last_in_class(std::size_t size_class) const;

  Bitmap occupied_ = {};
  std::array<std::uint64_t, kSummaryWords> summary_ = {};  ///< of the words of occupied_ not 0
  Bitmap shared_ = {};                                     ///< classes with more than one block
  Bitmap made_ = {};                                       ///< classes that have others_
  std::unique_ptr<Block*[]> first_;                        ///< of each class in occupied_
  std::unique_ptr<SharedClass*[]> others_;                 ///< of each class in made_
  std::vector<std::unique_ptr<SharedClass>> shared_classes_;
};

inline void FreeBlocks::insert(Block& block) {
  const std::size_t size_class = class_of(block.bytes);
  if (has(occupied_, size_class)) {
    add_to_others(size_class, block);
    return;
  }
  first_[size_class] = &block;
  const std::size_t word = size_class / 64;
  set(occupied_, size_class);
  summary_[word / 64] |= std::uint64_t{1} << (word % 64);
}

inline void FreeBlocks::erase(const Block& block) {
  const std::size_t size_class = class_of(block.bytes);
  if (has(shared_, size_class)) {
    erase_from_shared_class(size_class, block);
    return;
  }
  OHM_ASSERT(has(occupied_, size_class) && first_[size_class] == &block,
             "block is not in its pool");
  unmark(size_class);
}

inline Block* FreeBlocks::take_exactly(std::size_t bytes) {
  const std::size_t size_class = bytes >> 9U;
  if (size_class >= kExactClasses || !has(occupied_, size_class)) return nullptr;
  Block* const first = first_[size_class];
  if (first->is_expandable) return nullptr;
  if (has(shared_, size_class)) {
    erase_from_shared_class(size_class, *first);
    return first;
  }
  unmark(size_class);
  return first;
}

inline std::size_t FreeBlocks::class_from(std::size_t size_class) const {
  constexpr std::uint64_t kAllBits = ~std::uint64_t{0};
  const std::size_t word = size_class / 64;
  if (word >= kWords) return kNoClass;
  const std::uint64_t here = occupied_[word] & (kAllBits << (size_class % 64));
  if (here != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(here));
  std::uint64_t mask = word % 64 == 63 ? 0 : kAllBits << (word % 64 + 1);
  for (std::size_t i = word / 64; i < kSummaryWords; ++i, mask = kAllBits) {
    const std::uint64_t words = summary_[i] & mask;
    if (words == 0) continue;
    const std::size_t next = i * 64 + static_cast<std::size_t>(std::countr_zero(words));
    return next * 64 + static_cast<std::size_t>(std::countr_zero(occupied_[next]));
  }
  return kNoClass;
}

inline Block* FreeBlocks::first_in_class_from(std::size_t size_class) const {
  const std::size_t found = class_from(size_class);
  return found == kNoClass ? nullptr : first_[found];
}

inline Block* FreeBlocks::smallest_at_least(std::size_t bytes) {
  const std::size_t size_class = class_of(bytes);
  // Below 2 MiB all blocks of a class are of one size: the first one is the best one.
  if (size_class < kExactClasses) return first_in_class_from(size_class);
  if (has(occupied_, size_class)) {
    Block* const first = first_[size_class];
    if (first->bytes >= bytes) return first;
    if (has(shared_, size_class)) {
      if (Block* const other = others_[size_class]->find_from(BlockKey(bytes))) return other;
    }
  }
  return first_in_class_from(size_class + 1);
}

}  // namespace ohm
