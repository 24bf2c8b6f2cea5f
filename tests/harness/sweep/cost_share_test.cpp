#include "harness/sweep/cost_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace ohm::engine {
namespace {

/// Costs of pieces as variants have them: those of one are alike, and some variants are huge.
std::vector<double> random_costs(std::mt19937& random) {
  std::vector<double> costs;
  const std::size_t variants = random() % 20;
  for (std::size_t variant = 0; variant < variants; ++variant) {
    const double cost = static_cast<double>(random() % 1000) / 100.0;
    const std::size_t pieces = random() % 8 == 0 ? 1000 + random() % 4000 : random() % 50;
    costs.insert(costs.end(), pieces, cost);
  }
  return costs;
}

TEST(CostShare, OfAnyWorkIsDisjointCompleteAndEven) {
  std::mt19937 random(1);
  for (int work = 0; work < 40; ++work) {
    const std::vector<double> costs = random_costs(random);
    const double total = std::accumulate(costs.begin(), costs.end(), 0.0);
    const double largest = costs.empty() ? 0 : *std::max_element(costs.begin(), costs.end());
    for (std::size_t count = 1; count <= 64; ++count) {
      std::size_t next = 0;
      for (std::size_t index = 0; index < count; ++index) {
        const CostShare share = share_of_costs(costs, {index, count});
        ASSERT_EQ(share.first, next) << work << ": " << index << "/" << count;
        ASSERT_LE(share.first, share.end);
        next = share.end;
        const double cost =
            std::accumulate(costs.begin() + static_cast<std::ptrdiff_t>(share.first),
                            costs.begin() + static_cast<std::ptrdiff_t>(share.end), 0.0);
        EXPECT_LE(cost, total / static_cast<double>(count) + largest + 1e-6);
      }
      ASSERT_EQ(next, costs.size());
    }
  }
}

TEST(CostShare, SpreadsOneHugeVariantOverAllShards) {
  const std::vector<double> costs(10000, 0.5);
  for (std::size_t index = 0; index < 64; ++index) {
    const CostShare share = share_of_costs(costs, {index, 64});
    EXPECT_NEAR(static_cast<double>(share.end - share.first), 10000.0 / 64, 1);
  }
}

TEST(CostShare, GivesWorkWithoutCostsToOneShard) {
  const std::vector<double> costs(3, 0);
  EXPECT_EQ(share_of_costs(costs, {0, 2}).end, 0U);
  EXPECT_EQ(share_of_costs(costs, {1, 2}).first, 0U);
  EXPECT_EQ(share_of_costs(costs, {1, 2}).end, 3U);
}

}  // namespace
}  // namespace ohm::engine
