#include "reports/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "reports/json_report.h"
#include "reports/merge_part.h"
#include "reports/sweep_json.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

ShardPart parsed(const ReportPart& report) {
  ShardPart part{report.name, Json::parse(report.json, nullptr, /*allow_exceptions=*/false)};
  const bool has_schema = part.json.is_object() && part.json.contains("schema");
  const Json schema = has_schema ? part.json["schema"] : Json();
  if (schema != std::string(kResultSchema) && schema != std::string(kSweepSchema)) {
    refuse(part, fmt::format("no JSON report of a run ({}) or of a sweep ({})", kResultSchema,
                             kSweepSchema));
  }
  return part;
}

std::int64_t number_of(const ShardPart& part) {
  return count_of(part.json.at("shard"), "number", part);
}
std::int64_t count_of_shards(const ShardPart& part) {
  return count_of(part.json.at("shard"), "count", part);
}

void require_shards_of_one(const std::vector<ShardPart>& parts) {
  for (const ShardPart& part : parts) {
    require_equal(parts.front().json, part.json, "schema", part);
    if (!part.json.contains("shard")) {
      refuse(part, "no shard: it is of all the work, there is nothing to merge it with");
    }
    if (count_of_shards(part) != count_of_shards(parts.front())) {
      refuse(part, fmt::format("one of {} shards, where {} is one of {}", count_of_shards(part),
                               parts.front().name, count_of_shards(parts.front())));
    }
  }
}

[[noreturn]] void refuse_without(std::int64_t number, std::int64_t count) {
  throw std::invalid_argument(
      fmt::format("shard {}/{} is missing: without it this would not be the whole", number, count));
}

/// By their number. Throws unless each shard is there once.
void put_in_order(std::vector<ShardPart>& parts) {
  std::stable_sort(parts.begin(), parts.end(), [](const ShardPart& a, const ShardPart& b) {
    return number_of(a) < number_of(b);
  });
  const std::int64_t count = count_of_shards(parts.front());
  std::int64_t expected = 1;
  for (const ShardPart& part : parts) {
    const std::int64_t found = number_of(part);
    if (found == 0 || found > count) {
      refuse(part, fmt::format("there is no shard {}/{}", found, count));
    }
    if (found < expected) refuse(part, fmt::format("shard {}/{} is there twice", found, count));
    if (found > expected) refuse_without(expected, count);
    ++expected;
  }
  if (expected <= count) refuse_without(expected, count);
}

ShardPart merged_sweep(std::vector<ShardPart> parts) {
  ShardPart sum = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    try {
      merge_sweep(sum, parts[i]);
    } catch (const Json::exception& missing) {
      refuse(parts[i], fmt::format("a field is missing or wrong, there or in what it is merged "
                                   "with: {}",
                                   missing.what()));
    }
  }
  return sum;
}

ShardPart merged(std::vector<ShardPart> parts) {
  const bool is_whole = parts.size() == 1 && !parts.front().json.contains("shard");
  if (is_whole) return std::move(parts.front());
  require_shards_of_one(parts);
  put_in_order(parts);
  const bool is_sweep = parts.front().json.at("schema") == std::string(kSweepSchema);
  return is_sweep ? merged_sweep(std::move(parts)) : merged_run(std::move(parts));
}

}  // namespace

MergedReport merged_reports(const std::vector<ReportPart>& reports) {
  if (reports.empty()) throw std::invalid_argument("there is nothing to merge");
  std::vector<ShardPart> parts;
  for (const ReportPart& report : reports) parts.push_back(parsed(report));
  try {
    ShardPart sum = merged(std::move(parts));
    sum.json.erase("shard");
    return {sum.json.dump(2) + "\n", exit_reason_of(sum)};
  } catch (const Json::exception& missing) {
    throw std::invalid_argument(fmt::format("a field is missing or wrong: {}", missing.what()));
  }
}

}  // namespace ohm::reports
