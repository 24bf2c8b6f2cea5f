#include "harness/sweep/cost_share.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

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

/// All work lies on a line, from 0 to `total`, of which each shard has an equal part: those whose
/// parts the group from `begin` to `end` reaches into.
CostShare::Sharers CostShare::sharers_of(double begin, double end, double total,
                                         std::size_t shards) {
  const double part = total / static_cast<double>(shards);
  const auto shard_at = [&](double place) {
    if (total == 0) return std::size_t{0};
    return std::min(shards - 1, static_cast<std::size_t>(place / part));
  };
  Sharers sharers{shard_at(begin), {}};
  const std::size_t last = shard_at(end);
  for (std::size_t shard = sharers.first; shard <= last; ++shard) {
    const double from = std::max(begin, part * static_cast<double>(shard));
    const double to = shard == last ? end : std::min(end, part * static_cast<double>(shard + 1));
    sharers.quotas.push_back(std::max(0.0, to - from));
  }
  if (cost_of(sharers.quotas) == 0) sharers.quotas.front() = 1;  // it costs nothing
  return sharers;
}

/// Of each piece the index in `sharers.quotas`: the one that is the least ahead with it.
std::vector<std::size_t> CostShare::dealt_out(const std::vector<double>& pieces,
                                              const Sharers& sharers) {
  if (pieces.empty()) return {};
  using Turn =
      std::pair<double, std::size_t>;  // when its quota would be used up to here, and whose
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (std::size_t i = 0; i < sharers.quotas.size(); ++i) {
    // Half a turn late, so that a small quota does not get the first piece whatever it is.
    if (sharers.quotas[i] > 0) turns.emplace(0.5 * pieces.front() / sharers.quotas[i], i);
  }
  std::vector<std::size_t> owners;
  for (const double cost : pieces) {
    const auto [turn, owner] = turns.top();
    turns.pop();
    turns.emplace(turn + cost / sharers.quotas[owner], owner);
    owners.push_back(owner);
  }
  return owners;
}

CostShare::CostShare(const std::vector<double>& costs, const Shard& shard) : shard_(shard.index) {
  const double total = cost_of(costs);
  double begin = 0;
  for (const double cost : costs) {
    sharers_.push_back(sharers_of(begin, begin + cost, total, shard.count));
    begin += cost;
  }
}

bool CostShare::has_part_of(std::size_t group) const {
  const Sharers& sharers = sharers_.at(group);
  const std::size_t place = shard_ - sharers.first;
  return shard_ >= sharers.first && place < sharers.quotas.size() && sharers.quotas[place] > 0;
}

std::vector<bool> CostShare::part_of(std::size_t group, const std::vector<double>& pieces) const {
  const Sharers& sharers = sharers_.at(group);
  std::vector<bool> mine;
  for (const std::size_t owner : dealt_out(pieces, sharers)) {
    mine.push_back(sharers.first + owner == shard_);
  }
  return mine;
}

std::vector<std::vector<bool>> share_of_costs(const std::vector<std::vector<double>>& costs,
                                              const Shard& shard) {
  std::vector<double> of_groups;
  for (const std::vector<double>& group : costs) of_groups.push_back(cost_of(group));
  const CostShare share(of_groups, shard);
  std::vector<std::vector<bool>> parts;
  for (std::size_t group = 0; group < costs.size(); ++group) {
    parts.push_back(share.part_of(group, costs[group]));
  }
  return parts;
}

}  // namespace ohm::engine
