#include <algorithm>
#include <utility>
#include <vector>

#include "reports/json/merge_part.h"
#include "reports/json/result_reader.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

struct PlacedScenario {
  std::int64_t file;  ///< which of those that were given
  Json json;
};

/// Throws unless the shard says of each of its scenarios which file it is of, and they are its own.
std::vector<std::int64_t> files_of(const ShardPart& part, std::int64_t number, std::int64_t count) {
  const Json& shard = part.json.at("shard");
  const Json listed = shard.contains("files") ? shard.at("files") : Json::array();
  const Json& scenarios = part.json.at("scenarios");
  if (!listed.is_array() || !scenarios.is_array() || listed.size() != scenarios.size()) {
    refuse(part, "its shard does not say which files its scenarios are");
  }
  std::vector<std::int64_t> files;
  for (const Json& one : listed) {
    const std::int64_t file = as_count(one, "files", part);
    const bool is_own = file > 0 && (file - 1) % count == number - 1;
    const bool is_next = files.empty() || file > files.back();
    if (!is_own || !is_next) refuse(part, "its shard has files of another one");
    files.push_back(file);
  }
  return files;
}

/// Throws for what no run writes.
void require_result(const ShardPart& part) {
  try {
    result_of(part.json);
  } catch (const ResultError& error) {
    refuse(part, error.what());
  }
}

}  // namespace

ShardPart merged_run(std::vector<ShardPart> parts) {
  std::vector<PlacedScenario> all;
  const auto count = static_cast<std::int64_t>(parts.size());
  for (std::int64_t number = 1; number <= count; ++number) {
    ShardPart& part = parts[static_cast<std::size_t>(number - 1)];
    const std::vector<std::int64_t> files = files_of(part, number, count);
    require_result(part);
    Json& scenarios = part.json.at("scenarios");
    for (std::size_t i = 0; i < files.size(); ++i) {
      all.push_back({files[i], std::move(scenarios[i])});
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
