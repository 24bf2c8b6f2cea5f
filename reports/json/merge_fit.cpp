#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "reports/json/merge_turns.h"
#include "reports/model/fit_result.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

/// The variants of the shards of a fit, dealt out in turn, with a row for each GPU. Of a command
/// there is one, and its rows are dealt out.
class FitMerge final : public ShardMerge {
 public:
  void begin(ShardPart& sum) override { take(sum); }
  void add(ShardPart& sum, ShardPart& part) override {
    for (const char* const field : {"varied", "least", "most"}) {
      require_equal(sum.json, part.json, field, part);
    }
    // A command that no row of the shard was a run of has not told its name.
    if (sum.json.at("rows").empty()) sum.json.at("scenario") = part.json.at("scenario");
    if (!part.json.at("rows").empty()) require_equal(sum.json, part.json, "scenario", part);
    merge_exit_reason(sum, part);
    take(part);
  }
  void finish(ShardPart& sum) override;

 private:
  void take(ShardPart& part);

  DealtPieces variants_;  ///< the rows of each
};

/// Rows of one variant are one after the other.
void FitMerge::take(ShardPart& part) {
  list_of(part.json, "rows", part);
  const bool is_by_gpu = part.json.at("shard").at("settings").contains(kFitDealt);
  std::vector<Json> variants;
  for (Json& row : part.json.at("rows")) {
    const bool is_next =
        is_by_gpu || variants.empty() || variants.back()[0].at("variant") != row.at("variant");
    if (is_next) variants.push_back(Json::array());
    variants.back().push_back(std::move(row));
  }
  variants_.take(count_of(part.json.at("shard"), "number", part), std::move(variants));
}

void FitMerge::finish(ShardPart& sum) {
  Json rows = Json::array();
  for (Json& variant : variants_.in_order(sum)) {
    for (Json& row : variant) rows.push_back(std::move(row));
  }
  sum.json.at("rows") = std::move(rows);
}

}  // namespace

std::unique_ptr<ShardMerge> merge_of_fits() { return std::make_unique<FitMerge>(); }

}  // namespace ohm::reports
