// The blocks of a size class that has more than one.
//
// Note [Shared classes]
// Most of them are leftovers of splits that come and go as neighbours merge and are seldom asked
// for. A bag serves them best: each block knows its place, so that it leaves without a search, and
// the members are looked through when the smallest one is wanted. That costs as much as there are
// members, so a bag that is looked through too often for what else happens to it becomes sorted, in
// runs short enough to shift, and stays so.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "allocator_shim/base/assert.h"
#include "allocator_shim/caching/block.h"

namespace ohm {

/// The order of free blocks: by size, then by segment, then by address.
struct BlockKey {
  std::size_t bytes;
  DeviceAddress address = 0;
  std::uint32_t segment_number = 0;

  /// The first of all that have so many bytes.
  explicit BlockKey(std::size_t b) : bytes(b) {}
  explicit BlockKey(const Block& block)
      : bytes(block.bytes), address(block.address), segment_number(block.segment_number) {}

  /// The smallest key above this one.
  BlockKey next() const {
    BlockKey above = *this;
    ++above.address;
    return above;
  }

  /// Without a branch: which one is smaller cannot be predicted.
  friend bool operator<(const BlockKey& a, const BlockKey& b) {
    const auto is_smaller = static_cast<unsigned>(a.bytes < b.bytes);
    const auto is_equal = static_cast<unsigned>(a.bytes == b.bytes);
    const auto is_older = static_cast<unsigned>(a.segment_number < b.segment_number);
    const auto is_of_one_age = static_cast<unsigned>(a.segment_number == b.segment_number);
    const auto is_lower = static_cast<unsigned>(a.address < b.address);
    return (is_smaller | (is_equal & (is_older | (is_of_one_age & is_lower)))) != 0;
  }
};

struct KeyedBlock {
  BlockKey key;
  Block* block;
};

/// Any number of blocks, in order.
class SortedBlocks {
 public:
  void insert(Block& block);
  void erase(const Block& block);
  Block& take_first();
  bool empty() const { return runs_.front().empty(); }
  Block* last() const { return runs_.front().front().block; }
  Block* first_from(const BlockKey& key) const;
  Block* last_before(const BlockKey& key) const;

 private:
  /// Entries stand in falling order, so that the smallest one is taken without shifting any.
  using Run = std::vector<KeyedBlock>;
  static constexpr std::size_t kMaxRun = 128;

  struct Position {
    std::size_t run;
    std::size_t entry;
  };
  /// Where the first entry below `key` stands, which may be the end of the last run.
  Position first_below(const BlockKey& key) const;
  void drop_if_empty(std::size_t run);

  std::vector<Run> runs_ = std::vector<Run>(1);  ///< in falling order; none empty but an only one
};

class SharedClass {
 public:
  void insert(Block& block) {
    if (sorted_) return sorted_->insert(block);
    patience_ = std::min(patience_ + kEarnedByChange, kMostPatience);
    block.place_in_class = static_cast<std::uint32_t>(bag_.size());
    bag_.push_back({BlockKey(block), &block});
  }
  void erase(const Block& block) {
    if (sorted_) return sorted_->erase(block);
    OHM_ASSERT(block.place_in_class < bag_.size() && bag_[block.place_in_class].block == &block,
               "block is not in its pool");
    erase_from_bag(block.place_in_class);
  }
  bool empty() const { return sorted_ ? sorted_->empty() : bag_.empty(); }

  /// Removes the first block, which there has to be.
  Block& take_first();
  /// The first block whose key is at least `key`; nullptr if there is none.
  Block* find_from(const BlockKey& key);

  /// The same, without sorting: for walks through all blocks.
  Block* first_from(const BlockKey& key) const;
  /// The last block whose key is less than `key`; nullptr if there is none.
  Block* last_before(const BlockKey& key) const;
  /// The last block, which there has to be.
  Block* last() const;

 private:
  /// Members that may be looked through, earned by changes that needed no search.
  static constexpr std::size_t kEarnedByChange = 16;
  static constexpr std::size_t kMostPatience = 4096;
  /// A bag up to here is looked through faster than a run is searched.
  static constexpr std::size_t kSmallBag = 16;

  void erase_from_bag(std::size_t place) {
    bag_[place] = bag_.back();
    bag_[place].block->place_in_class = static_cast<std::uint32_t>(place);
    bag_.pop_back();
  }
  /// Whether the members may be looked through once more; if not, they are sorted from now on.
  bool may_look_through();
  void become_sorted();

  std::vector<KeyedBlock> bag_;  ///< in no order
  std::size_t patience_ = kMostPatience;
  std::unique_ptr<SortedBlocks> sorted_;
};

}  // namespace ohm
