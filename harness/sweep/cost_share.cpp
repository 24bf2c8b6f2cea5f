#include "harness/sweep/cost_share.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace ohm::engine {

namespace {

double sum_of(const std::vector<double>& costs) {
  return std::accumulate(costs.begin(), costs.end(), 0.0);
}

/// Shards that have a part of one group: from `first` on, each with what it is to get.
struct Sharers {
  std::size_t first = 0;
  std::vector<double> quotas;
};

/// All work lies on a line, from 0 to `total`, of which each shard has an equal part: those whose
/// parts the group from `begin` to `end` reaches into.
Sharers sharers_of(double begin, double end, double total, std::size_t shards) {
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
  if (sum_of(sharers.quotas) == 0) sharers.quotas.front() = 1;  // it costs nothing
  return sharers;
}

/// Of each piece the index in `sharers.quotas`: the one that is the least ahead with it.
std::vector<std::size_t> dealt_out(const std::vector<double>& costs, const Sharers& sharers) {
  if (costs.empty()) return {};
  using Turn =
      std::pair<double, std::size_t>;  // when its quota would be used up to here, and whose
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns;
  for (std::size_t i = 0; i < sharers.quotas.size(); ++i) {
    // Half a turn late, so that a small quota does not get the first piece whatever it is.
    if (sharers.quotas[i] > 0) turns.emplace(0.5 * costs.front() / sharers.quotas[i], i);
  }
  std::vector<std::size_t> owners;
  for (const double cost : costs) {
    const auto [turn, owner] = turns.top();
    turns.pop();
    turns.emplace(turn + cost / sharers.quotas[owner], owner);
    owners.push_back(owner);
  }
  return owners;
}

}  // namespace

std::vector<std::vector<bool>> share_of_costs(const std::vector<std::vector<double>>& costs,
                                              const Shard& shard) {
  double total = 0;
  for (const std::vector<double>& group : costs) total += sum_of(group);
  std::vector<std::vector<bool>> share;
  double begin = 0;
  for (const std::vector<double>& group : costs) {
    const double end = begin + sum_of(group);
    const Sharers sharers = sharers_of(begin, end, total, shard.count);
    std::vector<bool> mine;
    for (const std::size_t owner : dealt_out(group, sharers)) {
      mine.push_back(sharers.first + owner == shard.index);
    }
    share.push_back(std::move(mine));
    begin = end;
  }
  return share;
}

}  // namespace ohm::engine
