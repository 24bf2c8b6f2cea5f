// Work that is cut by what it costs.
#pragma once

#include <vector>

#include "harness/scenario/shard.h"

namespace ohm::engine {

/// Which pieces of work with these costs, which are not negative, the shard does. Each piece in
/// turn goes to the shard that has the least so far, so that pieces of one kind are spread over all
/// shards, whatever they turn out to cost. The parts of all shards are disjoint and together the
/// whole; by these costs none is larger than its share and the largest piece.
std::vector<bool> share_of_costs(const std::vector<double>& costs, const Shard& shard);

}  // namespace ohm::engine
