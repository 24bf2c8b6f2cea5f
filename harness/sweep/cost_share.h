// Work that is cut by what it costs.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/scenario/shard.h"

namespace ohm::engine {

/// Pieces of work from `first` on, up to the one before `end`.
struct CostShare {
  std::size_t first = 0;
  std::size_t end = 0;

  bool has(std::size_t piece) const { return piece >= first && piece < end; }
};

/// The shard's part of pieces with these costs, which are not negative, in this order: pieces that
/// follow each other, so that few of what they begin with is begun twice. Parts of all shards are
/// disjoint and together the whole; none costs more than its share and the largest piece.
CostShare share_of_costs(const std::vector<double>& costs, const Shard& shard);

}  // namespace ohm::engine
