#include "runtime/data/item_order.h"

#include <gtest/gtest.h>

#include <map>

#include "runtime/tensor/context.h"
#include "tests/support/test_machine.h"

namespace ohm::data {
namespace {

TEST(ItemOrder, EveryOrderOfThreeIsAboutAsLikelyAsAnyOther) {
  PhiloxGenerator generator{7, 0};
  std::map<Indices, int> counts;
  for (int i = 0; i < 6000; ++i) ++counts[random_permutation(3, generator)];
  EXPECT_EQ(counts.size(), 6U);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 120);
}

TEST(ItemOrder, WithoutAGeneratorEpochsAreSeededByTheHosts) {
  test::TestMachine machine;
  const EpochOptions shuffled{.batch_size = 64, .shuffles = true, .generator = nullptr};
  machine.context().seed(3);
  const std::vector<Indices> first = epoch_batches(64, shuffled);
  const std::vector<Indices> second = epoch_batches(64, shuffled);
  EXPECT_NE(first, second);
  machine.context().seed(3);
  EXPECT_EQ(epoch_batches(64, shuffled), first);
  EXPECT_THROW(epoch_batches(0, shuffled), std::invalid_argument);
}

TEST(ItemOrder, BatchesAreConsecutiveAndTheLastIsShorterOrDropped) {
  const EpochOptions shorter{.batch_size = 2, .generator = nullptr};
  const EpochOptions dropped{.batch_size = 2, .drops_last = true, .generator = nullptr};
  EXPECT_EQ(epoch_batches(5, shorter), (std::vector<Indices>{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(epoch_batches(5, dropped), (std::vector<Indices>{{0, 1}, {2, 3}}));
  EXPECT_EQ(count_epoch_batches(5, shorter), 3);
  EXPECT_EQ(count_epoch_batches(5, dropped), 2);
  EXPECT_EQ(count_epoch_batches(4, shorter), 2);
}

}  // namespace
}  // namespace ohm::data
