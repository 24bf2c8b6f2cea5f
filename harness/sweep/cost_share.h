// Work that is cut by what it costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/scenario/shard.h"

namespace ohm::engine {

/// What all pieces of a group cost.
double cost_of(const std::vector<double>& pieces);

/// All pieces of a group.
struct GroupCost {
  double seconds = 0;
  std::uint64_t name = 0;  ///< of groups whose pieces cost the same it is the same
};

GroupCost group_cost(const std::vector<double>& pieces);

/// A name of the costs by which work was cut: shards of others do not add up. Empty: of none.
std::string name_of_costs(const std::vector<GroupCost>& groups);

/// A shard's part of groups of pieces that are begun together, whose costs are not negative. All
/// pieces lie on a line, as long as they cost; each shard has an equal length of it, and the pieces
/// whose middles lie there: few groups, and of each group neighbours, for what one fault showed
/// often serves the next. The parts of all shards are disjoint and together the whole; by these
/// costs none is larger than its share and the largest piece.
class CostShare {
 public:
  /// `costs` are the cost_of() each group.
  CostShare(const std::vector<double>& costs, const Shard& shard);

  /// False where it has none of the group's pieces.
  bool has_part_of(std::size_t group) const;
  /// Which of the group's pieces, by what each of them costs.
  std::vector<bool> part_of(std::size_t group, const std::vector<double>& pieces) const;

 private:
  std::size_t shard_at(double place) const;

  Shard shard_;
  std::vector<double> places_ = {0};  ///< where each group begins, and where the last one ends
};

}  // namespace ohm::engine
