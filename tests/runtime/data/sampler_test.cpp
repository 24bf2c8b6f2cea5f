#include "runtime/data/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "runtime/tensor/context.h"
#include "tests/support/test_machine.h"

namespace ohm::data {
namespace {

GeneratorPtr seeded(std::uint64_t seed) {
  return std::make_shared<PhiloxGenerator>(PhiloxGenerator{seed, 0});
}

TEST(Sampler, EveryOrderOfThreeIsAboutAsLikelyAsAnyOther) {
  PhiloxGenerator generator{7, 0};
  std::map<Indices, int> counts;
  for (int i = 0; i < 6000; ++i) ++counts[random_permutation(3, generator)];
  EXPECT_EQ(counts.size(), 6U);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 120);
}

TEST(Sampler, SharesAreRoundedDownAndTheFirstPartsGetTheRest) {
  EXPECT_EQ(part_sizes(10, {0.5, 0.3, 0.2}), (Indices{5, 3, 2}));
  EXPECT_EQ(part_sizes(11, {0.5, 0.25, 0.25}), (Indices{6, 3, 2}));
  EXPECT_EQ(part_sizes(10, {7, 3}), (Indices{7, 3}));
  EXPECT_THROW(part_sizes(10, {7, 2}), std::invalid_argument);
  EXPECT_THROW(part_sizes(10, {-1, 11}), std::invalid_argument);
  EXPECT_THROW(part_sizes(10, {0.5, 0.25}), std::invalid_argument);
}

TEST(Sampler, MoreSamplesThanItemsArePermutationsBehindOneAnother) {
  RandomSampler sampler(4, {.num_samples = 6, .generator = seeded(1)});
  Indices first = sampler.draw();
  EXPECT_EQ(first.size(), 6U);
  first.resize(4);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, (Indices{0, 1, 2, 3}));
}

TEST(Sampler, WithoutReplacementAWeightedIndexComesOnce) {
  WeightedRandomSampler sampler({1, 0, 5, 2}, {.num_samples = 3, .generator = seeded(1)});
  Indices drawn = sampler.draw();
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(drawn, (Indices{0, 2, 3}));
  EXPECT_THROW(WeightedRandomSampler({1, 0}, {false, 2, nullptr}), std::invalid_argument);
  EXPECT_THROW(WeightedRandomSampler({1, -1}, {false, 1, nullptr}), std::invalid_argument);
}

TEST(Sampler, RanksVisitEverythingOnceWhereItDivides) {
  Indices all;
  for (std::int64_t rank = 0; rank < 3; ++rank) {
    DistributedSampler sampler(9, {.num_replicas = 3, .rank = rank, .seed = 5});
    sampler.set_epoch(2);
    const Indices own = sampler.draw();
    EXPECT_EQ(own.size(), 3U);
    all.insert(all.end(), own.begin(), own.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, SequentialSampler(9).draw());
  EXPECT_EQ(DistributedSampler(10, {.num_replicas = 4, .drops_last = true}).size(), 2);
  EXPECT_EQ(DistributedSampler(10, {.num_replicas = 4}).size(), 3);
  EXPECT_THROW(DistributedSampler(10, {.num_replicas = 2, .rank = 2}), std::invalid_argument);
}

TEST(Sampler, WithoutAGeneratorEpochsAreSeededByTheHosts) {
  test::TestMachine machine;
  RandomSampler sampler(64, {});
  machine.context().seed(3);
  const Indices first = sampler.draw();
  const Indices second = sampler.draw();
  EXPECT_NE(first, second);
  machine.context().seed(3);
  EXPECT_EQ(sampler.draw(), first);
}

TEST(Sampler, BatchesAreConsecutiveAndTheLastIsShorterOrDropped) {
  const auto sampler = std::make_shared<SequentialSampler>(5);
  EXPECT_EQ((BatchSampler{sampler, 2, false}.draw()), (std::vector<Indices>{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ((BatchSampler{sampler, 2, true}.draw()), (std::vector<Indices>{{0, 1}, {2, 3}}));
  EXPECT_EQ((BatchSampler{sampler, 2, false}.size()), 3);
}

}  // namespace
}  // namespace ohm::data
