#include "harness/sweep/cost_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
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

double cost_of(const std::vector<bool>& share, const std::vector<double>& costs) {
  double cost = 0;
  for (std::size_t piece = 0; piece < costs.size(); ++piece)
    cost += share[piece] ? costs[piece] : 0;
  return cost;
}

TEST(CostShare, OfAnyWorkIsDisjointCompleteAndEven) {
  std::mt19937 random(1);
  for (int work = 0; work < 10; ++work) {
    const std::vector<double> costs = random_costs(random);
    const double total = std::accumulate(costs.begin(), costs.end(), 0.0);
    const double largest = costs.empty() ? 0 : *std::max_element(costs.begin(), costs.end());
    for (std::size_t count = 1; count <= 64; ++count) {
      std::vector<int> owners(costs.size());
      for (std::size_t index = 0; index < count; ++index) {
        const std::vector<bool> share = share_of_costs(costs, {index, count});
        ASSERT_EQ(share.size(), costs.size());
        for (std::size_t piece = 0; piece < costs.size(); ++piece) owners[piece] += share[piece];
        EXPECT_LE(cost_of(share, costs), total / static_cast<double>(count) + largest + 1e-6);
      }
      EXPECT_EQ(std::count(owners.begin(), owners.end(), 1),
                static_cast<std::ptrdiff_t>(owners.size()))
          << work << ": " << count;
    }
  }
}

TEST(CostShare, SpreadsOneHugeVariantOverAllShards) {
  // Between small ones, each of which is spread as far as it goes.
  std::vector<double> costs(40, 2.0);
  costs.resize(10040, 0.5);
  for (std::size_t index = 0; index < 64; ++index) {
    const std::vector<bool> share = share_of_costs(costs, {index, 64});
    EXPECT_LE(std::count(share.begin(), share.begin() + 40, true), 1);
    EXPECT_NEAR(static_cast<double>(std::count(share.begin() + 40, share.end(), true)),
                10000.0 / 64, 4);
  }
}

}  // namespace
}  // namespace ohm::engine
