#include "harness/sweep/cost_share.h"

#include <cstddef>
#include <functional>
#include <queue>
#include <utility>

namespace ohm::engine {

std::vector<bool> share_of_costs(const std::vector<double>& costs, const Shard& shard) {
  using Load = std::pair<double, std::size_t>;  // and whose; of equal ones the first
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (std::size_t index = 0; index < shard.count; ++index) loads.emplace(0, index);
  std::vector<bool> share;
  for (const double cost : costs) {
    const auto [load, index] = loads.top();
    loads.pop();
    loads.emplace(load + cost, index);
    share.push_back(index == shard.index);
  }
  return share;
}

}  // namespace ohm::engine
