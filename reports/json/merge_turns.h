// Pieces of work that were dealt to shards in turn: of N shards the first one has the first piece,
// and each Nth after it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "reports/json/merge_part.h"

namespace ohm::reports {

class DealtPieces {
 public:
  /// Those of one shard, in its order.
  void take(std::int64_t number, std::vector<nlohmann::json> pieces);

  /// All of them, as one machine has them. Pre-condition: all shards' were taken. Throws unless
  /// they can have been dealt out in turn; `sum` is for the message.
  std::vector<nlohmann::json> in_order(const ShardPart& sum);

 private:
  void require_turns(const ShardPart& sum) const;

  std::map<std::int64_t, std::vector<nlohmann::json>> pieces_;  ///< by shard
};

}  // namespace ohm::reports
