#include "harness/sweep/cost_share.h"

#include <numeric>

namespace ohm::engine {

namespace {

/// Where the part of shard `index` begins: at the first piece whose middle is not before it.
std::size_t beginning_of(std::size_t index, const std::vector<double>& costs, double total,
                         std::size_t count) {
  if (index == count) return costs.size();
  const double before = total * static_cast<double>(index) / static_cast<double>(count);
  double sum = 0;
  std::size_t piece = 0;
  while (piece < costs.size() && sum + costs[piece] / 2 < before) sum += costs[piece++];
  return piece;
}

}  // namespace

CostShare share_of_costs(const std::vector<double>& costs, const Shard& shard) {
  const double total = std::accumulate(costs.begin(), costs.end(), 0.0);
  return {beginning_of(shard.index, costs, total, shard.count),
          beginning_of(shard.index + 1, costs, total, shard.count)};
}

}  // namespace ohm::engine
