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

/// What a shard does of groups of pieces that are begun together, whose costs are not negative.
/// Groups go to the shards in their order, so that a shard begins few of them; the pieces of one
/// that several shards share are dealt out in turn, so that they all get some of each kind,
/// whatever they turn out to cost. The parts of all shards are disjoint and together the whole; by
/// these costs none is larger than its share and the two largest pieces.
class CostShare {
 public:
  /// `costs` are the cost_of() each group.
  CostShare(const std::vector<double>& costs, const Shard& shard);

  /// False where it has none of the group's pieces.
  bool has_part_of(std::size_t group) const;
  /// Which of the group's pieces, by what each of them costs.
  std::vector<bool> part_of(std::size_t group, const std::vector<double>& pieces) const;

 private:
  /// Shards that have a part of one group: from `first` on, each with what it is to get.
  struct Sharers {
    std::size_t first = 0;
    std::vector<double> quotas;
  };

  static Sharers sharers_of(double begin, double end, double total, std::size_t shards);
  static std::vector<std::size_t> dealt_out(const std::vector<double>& pieces,
                                            const Sharers& sharers);

  std::size_t shard_;
  std::vector<Sharers> sharers_;  ///< of each group
};

/// Of all groups.
std::vector<std::vector<bool>> share_of_costs(const std::vector<std::vector<double>>& costs,
                                              const Shard& shard);

}  // namespace ohm::engine
