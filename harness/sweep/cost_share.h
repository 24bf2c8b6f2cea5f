// Work that is cut by what it costs.
#pragma once

#include <vector>

#include "harness/scenario/shard.h"

namespace ohm::engine {

/// Which pieces of work with these costs, which are not negative, the shard does: of each group of
/// pieces that are begun together. Groups go to the shards in their order, so that a shard begins
/// few of them; the pieces of one that several shards share are dealt out in turn, so that they all
/// get some of each kind, whatever they turn out to cost. The parts of all shards are disjoint and
/// together the whole; by these costs none is larger than its share and the two largest pieces.
std::vector<std::vector<bool>> share_of_costs(const std::vector<std::vector<double>>& costs,
                                              const Shard& shard);

}  // namespace ohm::engine
