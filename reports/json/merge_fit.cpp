#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reports/json/merge_part.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

/// The variants of the shards of a fit: of N shards the first one has the first variant, and each
/// Nth after it, with a row for each GPU.
class FitMerge final : public ShardMerge {
 public:
  void begin(ShardPart& sum) override { take(sum); }
  void add(ShardPart& sum, ShardPart& part) override {
    for (const char* const field : {"scenario", "varied", "least", "most"}) {
      require_equal(sum.json, part.json, field, part);
    }
    merge_exit_reason(sum, part);
    take(part);
  }
  void finish(ShardPart& sum) override;

 private:
  void take(ShardPart& part);
  void require_turns(const ShardPart& sum) const;

  std::map<std::int64_t, std::vector<Json>> variants_;  ///< by shard: the rows of each
};

/// Rows of one variant are one after the other.
void FitMerge::take(ShardPart& part) {
  list_of(part.json, "rows", part);
  std::vector<Json>& variants = variants_[count_of(part.json.at("shard"), "number", part)];
  for (Json& row : part.json.at("rows")) {
    const bool is_next = variants.empty() || variants.back()[0].at("variant") != row.at("variant");
    if (is_next) variants.push_back(Json::array());
    variants.back().push_back(std::move(row));
  }
}

/// Throws unless they can be the variants of one scenario, dealt out in turn.
void FitMerge::require_turns(const ShardPart& sum) const {
  std::size_t before = variants_.begin()->second.size();
  for (const auto& [number, variants] : variants_) {
    const std::size_t first = variants_.begin()->second.size();
    if (variants.size() <= before && variants.size() + 1 >= first) {
      before = variants.size();
      continue;
    }
    refuse(sum, fmt::format("shard {} has {} variants, and shard 1 has {}: rows are missing",
                            number, variants.size(), first));
  }
}

void FitMerge::finish(ShardPart& sum) {
  require_turns(sum);
  Json rows = Json::array();
  const std::size_t most = variants_.begin()->second.size();
  for (std::size_t turn = 0; turn < most; ++turn) {
    for (auto& [number, variants] : variants_) {
      if (turn >= variants.size()) continue;
      for (Json& row : variants[turn]) rows.push_back(std::move(row));
    }
  }
  sum.json.at("rows") = std::move(rows);
}

}  // namespace

std::unique_ptr<ShardMerge> merge_of_fits() { return std::make_unique<FitMerge>(); }

}  // namespace ohm::reports
