#include "reports/json/merge_turns.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

namespace ohm::reports {

using Json = nlohmann::json;

void DealtPieces::take(std::int64_t number, std::vector<Json> pieces) {
  pieces_[number] = std::move(pieces);
}

void DealtPieces::require_turns(const ShardPart& sum) const {
  const std::size_t first = pieces_.begin()->second.size();
  std::size_t before = first;
  for (const auto& [number, pieces] : pieces_) {
    if (pieces.size() <= before && pieces.size() + 1 >= first) {
      before = pieces.size();
      continue;
    }
    refuse(sum, fmt::format("shard {} has {} variants, and shard 1 has {}: rows are missing",
                            number, pieces.size(), first));
  }
}

std::vector<Json> DealtPieces::in_order(const ShardPart& sum) {
  require_turns(sum);
  std::vector<Json> all;
  for (std::size_t turn = 0; turn < pieces_.begin()->second.size(); ++turn) {
    for (auto& [number, pieces] : pieces_) {
      if (turn < pieces.size()) all.push_back(std::move(pieces[turn]));
    }
  }
  return all;
}

}  // namespace ohm::reports
