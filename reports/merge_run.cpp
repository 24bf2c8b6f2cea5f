#include <algorithm>
#include <utility>
#include <vector>

#include "reports/merge_part.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

struct PlacedScenario {
  std::int64_t file;  ///< which of those that were given
  Json json;
};

/// Throws unless the shard says of each of its scenarios which file it is of, and they are its own.
std::vector<PlacedScenario> placed_scenarios(ShardPart& part, std::int64_t number,
                                             std::int64_t count) {
  const Json& shard = part.json.at("shard");
  const Json files = shard.contains("files") ? shard.at("files") : Json::array();
  Json& scenarios = part.json.at("scenarios");
  if (!files.is_array() || !scenarios.is_array() || files.size() != scenarios.size()) {
    refuse(part, "its shard does not say which files its scenarios are");
  }
  std::vector<PlacedScenario> placed;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::int64_t file = as_count(files[i], "files", part);
    const bool is_own = file > 0 && (file - 1) % count == number - 1;
    const bool is_next = placed.empty() || file > placed.back().file;
    if (!is_own || !is_next) refuse(part, "its shard has files of another one");
    placed.push_back({file, std::move(scenarios[i])});
  }
  return placed;
}

}  // namespace

ShardPart merged_run(std::vector<ShardPart> parts) {
  std::vector<PlacedScenario> all;
  const auto count = static_cast<std::int64_t>(parts.size());
  for (std::int64_t number = 1; number <= count; ++number) {
    ShardPart& part = parts[static_cast<std::size_t>(number - 1)];
    for (PlacedScenario& one : placed_scenarios(part, number, count)) {
      all.push_back(std::move(one));
    }
    merge_exit_reason(parts.front(), part);
  }
  std::sort(all.begin(), all.end(),
            [](const PlacedScenario& a, const PlacedScenario& b) { return a.file < b.file; });
  ShardPart sum = std::move(parts.front());
  Json scenarios = Json::array();
  for (PlacedScenario& one : all) scenarios.push_back(std::move(one.json));
  sum.json.at("scenarios") = std::move(scenarios);
  // A shard in which nothing is selected passes; all of them together do not.
  if (all.empty() && exit_reason_of(sum) == ExitReason::passed) {
    sum.json.at("exit_reason") = exit_code(ExitReason::nothing_selected).reason;
  }
  return sum;
}

}  // namespace ohm::reports
