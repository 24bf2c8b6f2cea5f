#include "harness/sweep/cost_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>

#include "allocator_shim/fault/fault_point.h"

namespace ohm::engine {

double cost_of(const std::vector<double>& pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), 0.0);
}

GroupCost group_cost(const std::vector<double>& pieces) {
  PointHash hash;
  hash.add(std::uint64_t{pieces.size()});
  for (const double cost : pieces) hash.add(std::bit_cast<std::uint64_t>(cost));
  return {cost_of(pieces), hash.value()};
}

std::string name_of_costs(const std::vector<GroupCost>& groups) {
  PointHash hash;
  for (const GroupCost& group : groups) hash.add(group.name);
  return groups.empty() ? "" : fmt::format("{:016x}", hash.value());
}

CostShare::CostShare(const std::vector<double>& costs, const Shard& shard) : shard_(shard) {
  for (const double cost : costs) places_.push_back(places_.back() + cost);
}

std::size_t CostShare::shard_at(double place) const {
  const double total = places_.back();
  if (total == 0) return 0;
  const auto shard = static_cast<std::size_t>(place / total * static_cast<double>(shard_.count));
  return std::min(shard_.count - 1, shard);
}

bool CostShare::has_part_of(std::size_t group) const {
  return shard_at(places_.at(group)) <= shard_.index &&
         shard_.index <= shard_at(places_.at(group + 1));
}

std::vector<bool> CostShare::part_of(std::size_t group, const std::vector<double>& pieces) const {
  // Their sum is the group's cost but for its rounding.
  const double end = places_.at(group + 1);
  double place = places_.at(group);
  std::vector<bool> mine;
  for (const double cost : pieces) {
    mine.push_back(shard_at(std::min(end, place + cost / 2)) == shard_.index);
    place += cost;
  }
  return mine;
}

}  // namespace ohm::engine
