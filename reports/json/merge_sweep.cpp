#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>

#include "reports/json/merge_part.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

void add(Json& sum, const Json& more, std::string_view field, const ShardPart& part) {
  // Unsigned, as it would be read: the sum is added to once more.
  sum.at(field) =
      static_cast<std::uint64_t>(count_of(sum, field, part) + count_of(more, field, part));
}

void merge_point(Json& sum, const Json& more, const ShardPart& part) {
  for (const char* const field : {"point", "passes"}) require_equal(sum, more, field, part);
  for (const char* const field : {"faults", "unhandled"}) add(sum, more, field, part);
}

/// As one machine lists them: by the call that failed, transient before persistent.
void sort_failed(Json& failed) {
  const auto place = [](const Json& fault) {
    return std::make_tuple(fault.at("call").get<std::int64_t>(),
                           fault.at("form").get<std::string>() == "persistent");
  };
  std::stable_sort(failed.begin(), failed.end(),
                   [&](const Json& a, const Json& b) { return place(a) < place(b); });
}

void merge_variant(Json& sum, Json& more, const ShardPart& part) {
  for (const char* const field :
       {"name", "calls", "values", "error", "peak_bytes", "not_tried", "beyond_budget"}) {
    require_equal(sum, more, field, part);
  }
  // What could not be swept says so in every shard.
  if (sum.at("verdicts").at("nondeterministic") != 0 && more.at("faults") == 0) return;
  for (const char* const field :
       {"faults", "benign", "handled", "repeated_calls", "waived", "untested"})
    add(sum, more, field, part);
  Json& peak = sum.at("peak_after_faults_bytes");
  peak = static_cast<std::uint64_t>(std::max(count_of(sum, "peak_after_faults_bytes", part),
                                             count_of(more, "peak_after_faults_bytes", part)));
  for (const auto& [verdict, count] : more.at("verdicts").items()) {
    add(sum.at("verdicts"), more.at("verdicts"), verdict, part);
  }
  Json& points = sum.at("points");
  if (points.size() != more.at("points").size()) refuse(part, "of another program: other points");
  for (std::size_t i = 0; i < points.size(); ++i) {
    merge_point(points[i], more.at("points")[i], part);
  }
  Json& failed = sum.at("failed");
  for (Json& one : more.at("failed")) failed.push_back(std::move(one));
}

void merge_scenario(Json& sum, Json& more, const ShardPart& part) {
  for (const char* const field : {"name", "file", "error"}) require_equal(sum, more, field, part);
  Json& variants = sum.at("variants");
  if (variants.size() != more.at("variants").size()) refuse(part, "of other variants");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    merge_variant(variants[i], more.at("variants")[i], part);
  }
}

/// Throws unless the part has lists and objects where those of a sweep are.
void require_sweep(const ShardPart& part) {
  for (const Json& scenario : list_of(part.json, "scenarios", part)) {
    for (const Json& variant : list_of(scenario, "variants", part)) {
      object_of(variant, "verdicts", part);
      list_of(variant, "failed", part);
      for (const Json& point : list_of(variant, "points", part)) list_of(point, "stack", part);
    }
  }
}

/// The faults of the shards of a sweep, of which each has all variants.
class SweepMerge final : public ShardMerge {
 public:
  void begin(ShardPart& sum) override { require_sweep(sum); }
  void add(ShardPart& sum, ShardPart& part) override;
  void finish(ShardPart& sum) override;
};

void SweepMerge::add(ShardPart& sum, ShardPart& part) {
  require_sweep(part);
  for (const char* const field : {"points", "form", "level", "host", "depth"}) {
    const Json& expected = sum.json.at(field);
    const Json& found = part.json.at(field);
    if (found != expected) refuse_other_work(sum, part, field, found, expected);
  }
  merge_exit_reason(sum, part);
  Json& scenarios = sum.json.at("scenarios");
  Json& added = part.json.at("scenarios");
  if (scenarios.size() != added.size()) refuse(part, "of other scenarios");
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    merge_scenario(scenarios[i], added[i], part);
  }
}

/// What failed is put in the order in which one machine lists it.
void SweepMerge::finish(ShardPart& sum) {
  for (Json& scenario : sum.json.at("scenarios")) {
    for (Json& variant : scenario.at("variants")) sort_failed(variant.at("failed"));
  }
}

}  // namespace

std::unique_ptr<ShardMerge> merge_of_sweeps() { return std::make_unique<SweepMerge>(); }

}  // namespace ohm::reports
