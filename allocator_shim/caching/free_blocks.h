// The free blocks of one stream and pool, in order of size, then address.
//
// Note [Size classes]
// A tree of blocks costs a cache miss for each level. Here a block's size gives its class directly
// (every multiple of 512 below 2 MiB is a class of its own, above there are 128 classes for each
// power of two), and a bitmap over the classes with a second one over its words gives the next
// class that is not empty. Most classes hold one block, kept in the table itself; the others keep a
// sorted array, in runs short enough to shift.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "allocator_shim/caching/block.h"

namespace ohm {

/// Several blocks in order of (bytes, address).
class SortedBlocks {
 public:
  void insert(Block& block);
  void erase(const Block& block);
  bool empty() const { return runs_.empty(); }
  Block* first() const { return runs_.back().back().block; }
  Block* last() const { return runs_.front().front().block; }
  /// The first block of at least `bytes` whose address is at least `address`, or nullptr.
  Block* lower_bound(std::size_t bytes, DeviceAddress address) const;
  /// The last block before that, or nullptr.
  Block* last_before(std::size_t bytes, DeviceAddress address) const;

 private:
  struct Entry {
    std::size_t bytes;
    DeviceAddress address;
    Block* block;
  };
  /// Entries stand in falling order, so that the smallest one is taken without shifting any.
  using Run = std::vector<Entry>;
  static constexpr std::size_t kMaxRun = 128;

  struct Position {
    std::size_t run;
    std::size_t entry;
  };
  static bool is_before(const Entry& entry, std::size_t bytes, DeviceAddress address) {
    return entry.bytes != bytes ? entry.bytes < bytes : entry.address < address;
  }
  /// Where the first entry stands that is before (bytes, address); runs_.size() if there is none.
  Position first_before(std::size_t bytes, DeviceAddress address) const;

  std::vector<Run> runs_;  ///< in falling order, none empty
};

class FreeBlocks {
 public:
  FreeBlocks();
  FreeBlocks(FreeBlocks&&) = default;

  void insert(Block& block);
  void erase(const Block& block);

  /// The smallest block of at least `bytes`, at the lowest address of equals; or nullptr.
  Block* smallest_at_least(std::size_t bytes) const;
  Block* largest() const;
  Block* smallest() const { return first_in_class_from(0); }
  /// Neighbours in order; nullptr at the ends. `block` is a member.
  Block* after(const Block& block) const;
  Block* before(const Block& block) const;

 private:
  static constexpr std::size_t kExactClasses = 4096;  ///< sizes below 2 MiB
  static constexpr int kExactBits = 12;
  static_assert(kExactClasses == std::size_t{1} << kExactBits);
  static constexpr int kDivisionBits = 7;
  static constexpr int kLargestUnitBits = 51;  ///< 2^60 bytes in units of 512
  static constexpr std::size_t kClasses =
      kExactClasses +
      (static_cast<std::size_t>(kLargestUnitBits - kExactBits + 1) << kDivisionBits);
  static constexpr std::size_t kWords = (kClasses + 63) / 64;
  static constexpr std::size_t kSummaryWords = (kWords + 63) / 64;
  static constexpr std::size_t kNoClass = kClasses;

  /// Empty, one block, or a SortedBlocks that stays once it was needed.
  struct Slot {
    Block* single = nullptr;
    std::unique_ptr<SortedBlocks> several;
  };

  static std::size_t class_of(std::size_t bytes) {
    const std::size_t units = bytes >> 9U;
    if (units < kExactClasses) return units;
    const int exponent = static_cast<int>(std::bit_width(units)) - 1;
    const std::size_t division =
        (units >> static_cast<unsigned>(exponent - kDivisionBits)) & ((1U << kDivisionBits) - 1);
    return kExactClasses + (static_cast<std::size_t>(exponent - kExactBits) << kDivisionBits) +
           division;
  }

  void mark(std::size_t size_class);
  void unmark(std::size_t size_class);
  /// The first class from `size_class` on that holds a block, or kNoClass.
  std::size_t class_from(std::size_t size_class) const;
  /// The last class below `size_class` that holds a block, or kNoClass.
  std::size_t class_below(std::size_t size_class) const;
  Block* first_in_class_from(std::size_t size_class) const;

  std::array<std::uint64_t, kWords> bitmap_ = {};
  std::array<std::uint64_t, kSummaryWords> summary_ = {};  ///< of the words that are not 0
  std::vector<Slot> slots_;
};

}  // namespace ohm
