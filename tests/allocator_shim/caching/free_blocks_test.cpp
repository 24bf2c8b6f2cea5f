// The order of free blocks against std::set, through every way of keeping a size class: alone, in a
// bag, sorted.
#include "allocator_shim/caching/free_blocks.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

#include "allocator_shim/base/bytes.h"

namespace ohm {
namespace {

struct InOrder {
  bool operator()(const Block* a, const Block* b) const { return BlockKey(*a) < BlockKey(*b); }
};
using Model = std::set<Block*, InOrder>;

Block* at_or_null(const Model& model, Model::const_iterator it) {
  return it == model.end() ? nullptr : *it;
}

void expect_same_order(const FreeBlocks& free, const Model& model) {
  Block* block = free.smallest();
  for (Block* const expected : model) {
    ASSERT_EQ(block, expected);
    block = free.after(*block);
  }
  ASSERT_EQ(block, nullptr);
  block = free.largest();
  for (Block* const expected : std::vector<Block*>(model.rbegin(), model.rend())) {
    ASSERT_EQ(block, expected);
    block = free.before(*block);
  }
  ASSERT_EQ(block, nullptr);
}

struct SizeMix {
  std::size_t sizes;  ///< how many different ones
  std::size_t smallest_bytes;
};

class FreeBlocksOrder : public testing::TestWithParam<SizeMix> {};

TEST_P(FreeBlocksOrder, IsThatOfASetOfSizeSegmentAndAddress) {
  constexpr int kSteps = 20'000;
  constexpr std::size_t kMostBlocks = 1'500;
  const auto [sizes, smallest_bytes] = GetParam();
  std::mt19937_64 random(7);
  FreeBlocks free;
  Model model;
  std::vector<std::unique_ptr<Block>> blocks;
  for (int i = 0; i < kSteps; ++i) {
    const std::size_t bytes = smallest_bytes + 512 * (random() % sizes);
    if (random() % 3 != 0 && blocks.size() < kMostBlocks) {
      blocks.push_back(std::make_unique<Block>());
      blocks.back()->address = 512 * (random() % (std::uint64_t{1} << 32U));
      blocks.back()->bytes = bytes;
      blocks.back()->segment_number = static_cast<std::uint32_t>(random() % 4);
      if (model.insert(blocks.back().get()).second) {
        free.insert(*blocks.back());
      } else {
        blocks.pop_back();
      }
    } else if (!blocks.empty() && random() % 2 == 0) {
      const std::size_t index = random() % blocks.size();
      free.erase(*blocks[index]);
      model.erase(blocks[index].get());
      std::swap(blocks[index], blocks.back());
      blocks.pop_back();
    } else {
      Block key;
      key.bytes = bytes;
      Block* const expected = at_or_null(model, model.lower_bound(&key));
      ASSERT_EQ(free.smallest_at_least(bytes), expected);
      // Taking the first of a class is what makes a bag lose its patience.
      if (expected == nullptr || expected->bytes != bytes) continue;
      Block* const taken = free.take_exactly(bytes);
      if (taken == nullptr) continue;  // too large for a class of its own
      ASSERT_EQ(taken, expected);
      model.erase(expected);
      std::erase_if(blocks, [&](const auto& block) { return block.get() == expected; });
    }
    if (i % 500 == 0) expect_same_order(free, model);
    if (HasFatalFailure()) return;
  }
  expect_same_order(free, model);
}

INSTANTIATE_TEST_SUITE_P(SizeMixes, FreeBlocksOrder,
                         testing::Values(SizeMix{1, 4_KiB}, SizeMix{3, 512}, SizeMix{500, 512},
                                         SizeMix{5'000, 512}, SizeMix{40'000, 2_MiB},
                                         SizeMix{200, 900_MiB}, SizeMix{100, 20_TiB}));

}  // namespace
}  // namespace ohm
