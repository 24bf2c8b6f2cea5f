#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "reports/json/merge_part.h"
#include "reports/json/result_reader.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

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

/// The scenarios of the shards of a run, which each has some of.
class RunMerge final : public ShardMerge {
 public:
  void begin(ShardPart& sum) override { take(sum); }
  void add(ShardPart& /*sum*/, ShardPart& part) override { take(part); }
  void finish(ShardPart& sum) override;

 private:
  struct PlacedScenario {
    std::int64_t file;  ///< which of those that were given
    Json json;
  };

  void take(ShardPart& part);

  std::vector<PlacedScenario> all_;
  ExitReason exit_reason_ = ExitReason::passed;
};

void RunMerge::take(ShardPart& part) {
  const Json& shard = part.json.at("shard");
  const std::vector<std::int64_t> files =
      files_of(part, count_of(shard, "number", part), count_of(shard, "count", part));
  require_result(part);
  Json& scenarios = part.json.at("scenarios");
  for (std::size_t i = 0; i < files.size(); ++i) {
    all_.push_back({files[i], std::move(scenarios[i])});
  }
  exit_reason_ = worse_of(exit_reason_, exit_reason_of(part));
}

/// Puts the scenarios in the order in which their files were given.
void RunMerge::finish(ShardPart& sum) {
  std::sort(all_.begin(), all_.end(),
            [](const PlacedScenario& a, const PlacedScenario& b) { return a.file < b.file; });
  Json scenarios = Json::array();
  for (PlacedScenario& one : all_) scenarios.push_back(std::move(one.json));
  // A shard in which nothing is selected passes; all of them together do not.
  const bool is_nothing = all_.empty() && exit_reason_ == ExitReason::passed;
  const ExitReason reason = is_nothing ? ExitReason::nothing_selected : exit_reason_;
  sum.json.at("exit_reason") = exit_code(reason).reason;
  sum.json.at("scenarios") = std::move(scenarios);
}

}  // namespace

std::unique_ptr<ShardMerge> merge_of_runs() { return std::make_unique<RunMerge>(); }

}  // namespace ohm::reports
