#include "reports/json/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "reports/json/json_report.h"
#include "reports/json/merge_part.h"
#include "reports/json/sweep_json.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

ShardPart parsed(const ReportPart& report) {
  ShardPart part{report.name, Json::parse(report.json, nullptr, /*allow_exceptions=*/false)};
  const bool has_schema = part.json.is_object() && part.json.contains("schema");
  const Json schema = has_schema ? part.json["schema"] : Json();
  if (schema != std::string(kResultSchema) && schema != std::string(kSweepSchema)) {
    refuse(part, fmt::format("not a JSON report of a run ({}) or of a sweep ({})", kResultSchema,
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
  for (const ShardPart& part : parts) {
    told_of(part, [&] { require_sweep(part); });
  }
  ShardPart sum = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    told_of(parts[i], [&] { merge_sweep(sum, parts[i]); });
  }
  return sum;
}

ShardPart merged(std::vector<ShardPart> parts) {
  const bool is_whole = parts.size() == 1 && !parts.front().json.contains("shard");
  if (is_whole) return std::move(parts.front());
  for (const ShardPart& part : parts) {
    told_of(part, [&] { require_shard_of_as_many(parts.front(), part); });
  }
  put_in_order(parts);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    told_of(parts[i], [&] { require_same_work(parts.front(), parts[i]); });
  }
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
