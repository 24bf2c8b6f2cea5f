#include "reports/json/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "reports/json/fit_json.h"
#include "reports/json/json_report.h"
#include "reports/json/merge_part.h"
#include "reports/json/sweep_json.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

/// Reports that can be of a shard.
struct ReportKind {
  std::string_view schema;
  std::unique_ptr<ShardMerge> (*merge)();
};

constexpr std::array kKinds = {ReportKind{kResultSchema, merge_of_runs},
                               ReportKind{kSweepSchema, merge_of_sweeps},
                               ReportKind{kFitSchema, merge_of_fits}};

const ReportKind* kind_of(const Json& schema) {
  const auto* const known = std::find_if(kKinds.begin(), kKinds.end(), [&](const ReportKind& one) {
    return schema == std::string(one.schema);
  });
  return known == kKinds.end() ? nullptr : known;
}

ShardPart parsed(const ReportPart& report) {
  ShardPart part{report.name, Json::parse(report.json(), nullptr, /*allow_exceptions=*/false)};
  const bool has_schema = part.json.is_object() && part.json.contains("schema");
  if (!has_schema || kind_of(part.json["schema"]) == nullptr) {
    refuse(part, fmt::format("not a JSON report of a run ({}), of a sweep ({}) or of a fit ({})",
                             kResultSchema, kSweepSchema, kFitSchema));
  }
  return part;
}

std::int64_t number_of(const ShardPart& part) {
  return count_of(part.json.at("shard"), "number", part);
}
std::int64_t count_of_shards(const ShardPart& part) {
  return count_of(part.json.at("shard"), "count", part);
}

/// Calls `merge`; what is wrong with the JSON is told as the part's.
template <class Merge>
void told_of(const ShardPart& part, Merge&& merge) {
  try {
    merge();
  } catch (const Json::exception& missing) {
    refuse(part, fmt::format("a field is missing or wrong, there or in what it is merged with: {}",
                             missing.what()));
  }
}

/// Throws unless `part` is a shard of the same kind of work, cut into as many.
void require_shard_of_as_many(const ShardPart& first, const ShardPart& part) {
  require_equal(first.json, part.json, "schema", part);
  if (!part.json.contains("shard")) {
    refuse(part, "not a shard: it covers all of the work, there is nothing to merge it with");
  }
  number_of(part);  // throws when there is none
  const std::int64_t count = count_of_shards(part);
  if (count == count_of_shards(first)) return;
  refuse(part, fmt::format("one of {} shards, where {} is one of {}", count, first.name,
                           count_of_shards(first)));
}

[[noreturn]] void refuse_without(std::int64_t number, std::int64_t count) {
  throw std::invalid_argument(
      fmt::format("shard {}/{} is missing: without it this would not be the whole", number, count));
}

/// Takes the shards one at a time, in any order.
class Merger {
 public:
  void add(ShardPart part) {
    if (!sum_) return begin(std::move(part));
    if (is_whole_) require_shard_of_as_many(part, *sum_);
    told_of(part, [&] { require_shard_of_as_many(*sum_, part); });
    note_number(part);
    told_of(part, [&] {
      require_same_work(*sum_, part);
      merge_->add(*sum_, part);
    });
  }

  /// Throws unless each shard is there.
  ShardPart whole() {
    if (is_whole_) return std::move(*sum_);
    const std::int64_t count = count_of_shards(*sum_);
    for (std::int64_t number = 1; number <= count; ++number) {
      if (numbers_.count(number) == 0) refuse_without(number, count);
    }
    told_of(*sum_, [&] { merge_->finish(*sum_); });
    return std::move(*sum_);
  }

 private:
  void begin(ShardPart part) {
    is_whole_ = !part.json.contains("shard");
    merge_ = kind_of(part.json.at("schema"))->merge();
    if (!is_whole_) {
      told_of(part, [&] {
        require_shard_of_as_many(part, part);
        note_number(part);
        merge_->begin(part);
      });
    }
    sum_ = std::move(part);
  }

  void note_number(const ShardPart& part) {
    const std::int64_t number = number_of(part);
    const std::int64_t count = count_of_shards(part);
    if (number == 0 || number > count) {
      refuse(part, fmt::format("there is no shard {}/{}", number, count));
    }
    if (!numbers_.insert(number).second) {
      refuse(part, fmt::format("shard {}/{} is there twice", number, count));
    }
  }

  std::optional<ShardPart> sum_;
  std::unique_ptr<ShardMerge> merge_;
  std::set<std::int64_t> numbers_;
  bool is_whole_ = false;
};

}  // namespace

MergedReport merged_reports(const std::vector<ReportPart>& reports) {
  if (reports.empty()) throw std::invalid_argument("there is nothing to merge");
  try {
    Merger merger;
    for (const ReportPart& report : reports) merger.add(parsed(report));
    ShardPart sum = merger.whole();
    sum.json.erase("shard");
    return {sum.json.dump(2) + "\n", exit_reason_of(sum)};
  } catch (const Json::exception& missing) {
    throw std::invalid_argument(fmt::format("a field is missing or wrong: {}", missing.what()));
  }
}

}  // namespace ohm::reports
