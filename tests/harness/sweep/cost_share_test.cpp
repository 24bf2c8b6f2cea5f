#include "harness/sweep/cost_share.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

namespace ohm::engine {
namespace {

using Groups = std::vector<std::vector<double>>;

/// Costs of pieces as variants have them: they fall towards its end, and some variants are huge.
Groups random_costs(std::mt19937& random) {
  Groups costs;
  const std::size_t variants = random() % 20;
  for (std::size_t variant = 0; variant < variants; ++variant) {
    const double cost = static_cast<double>(random() % 1000) / 100.0;
    const std::size_t pieces = random() % 8 == 0 ? 1000 + random() % 4000 : random() % 50;
    std::vector<double>& group = costs.emplace_back();
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      group.push_back(cost * (1 + static_cast<double>(pieces - piece)));
    }
  }
  return costs;
}

std::vector<std::vector<bool>> share_of(const Groups& costs, const Shard& shard) {
  std::vector<double> of_groups;
  for (const std::vector<double>& group : costs) of_groups.push_back(cost_of(group));
  const CostShare share(of_groups, shard);
  std::vector<std::vector<bool>> parts;
  for (std::size_t group = 0; group < costs.size(); ++group) {
    parts.push_back(share.part_of(group, costs[group]));
  }
  return parts;
}

double total_of(const Groups& costs) {
  double total = 0;
  for (const std::vector<double>& group : costs) {
    total = std::accumulate(group.begin(), group.end(), total);
  }
  return total;
}

double largest_of(const Groups& costs) {
  double largest = 0;
  for (const std::vector<double>& group : costs) {
    for (const double cost : group) largest = std::max(largest, cost);
  }
  return largest;
}

/// What the shard has of each group.
std::vector<double> parts_of(const Groups& costs, const Shard& shard) {
  const std::vector<std::vector<bool>> share = share_of(costs, shard);
  std::vector<double> parts;
  for (std::size_t group = 0; group < costs.size(); ++group) {
    double& part = parts.emplace_back(0);
    for (std::size_t piece = 0; piece < costs[group].size(); ++piece) {
      if (share.at(group).at(piece)) part += costs[group][piece];
    }
  }
  return parts;
}

double sum_of(const std::vector<double>& parts) {
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

TEST(CostShare, OfAnyWorkIsDisjointCompleteAndEven) {
  std::mt19937 random(1);
  for (int work = 0; work < 10; ++work) {
    const Groups costs = random_costs(random);
    const double most = largest_of(costs) + 1e-6;
    for (std::size_t count = 1; count <= 64; ++count) {
      std::vector<std::vector<int>> owners;
      for (const std::vector<double>& group : costs) owners.emplace_back(group.size());
      for (std::size_t index = 0; index < count; ++index) {
        const std::vector<std::vector<bool>> share = share_of(costs, {index, count});
        ASSERT_EQ(share.size(), costs.size());
        double mine = 0;
        for (std::size_t group = 0; group < costs.size(); ++group) {
          for (std::size_t piece = 0; piece < costs[group].size(); ++piece) {
            owners[group][piece] += share[group][piece];
            mine += share[group][piece] ? costs[group][piece] : 0;
          }
        }
        EXPECT_LE(mine, total_of(costs) / static_cast<double>(count) + most);
      }
      for (const std::vector<int>& group : owners) {
        EXPECT_EQ(std::count(group.begin(), group.end(), 1), std::ssize(group))
            << work << ": " << count;
      }
    }
  }
}

TEST(CostShare, KnowsByTheCostsOfGroupsWhichItHasAPartOf) {
  std::mt19937 random(2);
  for (int work = 0; work < 20; ++work) {
    const Groups costs = random_costs(random);
    std::vector<double> of_groups;
    for (const std::vector<double>& group : costs) of_groups.push_back(cost_of(group));
    for (std::size_t index = 0; index < 7; ++index) {
      const CostShare share(of_groups, {index, 7});
      for (std::size_t group = 0; group < costs.size(); ++group) {
        const std::vector<bool> part = share.part_of(group, costs[group]);
        const bool has_some = std::count(part.begin(), part.end(), true) > 0;
        EXPECT_LE(has_some, share.has_part_of(group)) << work << ": " << group;
      }
    }
  }
}

TEST(CostShare, NamesOtherCostsOtherwise) {
  const GroupCost some = group_cost({1, 2});
  EXPECT_EQ(some.seconds, 3);
  EXPECT_EQ(name_of_costs({}), "");
  EXPECT_EQ(name_of_costs({some, some}), name_of_costs({group_cost({1, 2}), some}));
  EXPECT_NE(name_of_costs({some}), name_of_costs({group_cost({2, 1})}));
  EXPECT_NE(name_of_costs({some}), name_of_costs({some, group_cost({})}));
}

TEST(CostShare, BeginsFewGroupsInEachShard) {
  // Each is a quarter of a shard's work: what begins and ends in the middle of one is five.
  const Groups costs(4 * 64, std::vector<double>(20, 1.0));
  for (std::size_t index = 0; index < 64; ++index) {
    const std::vector<double> parts = parts_of(costs, {index, 64});
    EXPECT_LE(std::count_if(parts.begin(), parts.end(), [](double part) { return part > 0; }), 5);
  }
}

TEST(CostShare, SpreadsOneHugeGroupOverAllShardsNeighboursTogether) {
  Groups costs(40, std::vector<double>(3, 2.0));
  costs.emplace_back(10000, 0.5);
  const std::size_t shards = 16;
  std::size_t sharers = 0;
  for (std::size_t index = 0; index < shards; ++index) {
    const std::vector<bool> share = share_of(costs, {index, shards}).back();
    const auto begin = std::find(share.begin(), share.end(), true);
    const auto end = std::find(begin, share.end(), false);
    EXPECT_EQ(std::count(share.begin(), share.end(), true), end - begin);
    sharers += begin < end ? 1 : 0;
    EXPECT_NEAR(sum_of(parts_of(costs, {index, shards})), total_of(costs) / shards, 2);
  }
  EXPECT_GE(sharers, shards - 1);
}

TEST(CostShare, OfWhatCostsNothingIsCompleteToo) {
  for (const Groups& costs : {Groups{{0, 0}, {}, {0}}, Groups{{0, 1}, {0, 0}, {2, 2}}}) {
    std::size_t pieces = 0;
    for (std::size_t index = 0; index < 3; ++index) {
      for (const std::vector<bool>& group : share_of(costs, {index, 3})) {
        pieces += static_cast<std::size_t>(std::count(group.begin(), group.end(), true));
      }
    }
    std::size_t all = 0;
    for (const std::vector<double>& group : costs) all += group.size();
    EXPECT_EQ(pieces, all);
  }
}

}  // namespace
}  // namespace ohm::engine
