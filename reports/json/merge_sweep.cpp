#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "reports/json/merge_part.h"
#include "reports/model/sweep_result.h"
#include "reports/text/json_text.h"
#include "reports/text/json_writer.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

void add(Json& sum, const Json& more, std::string_view field, const ShardPart& part) {
  // Unsigned, as it would be read: the sum is added to once more.
  sum.at(field) =
      static_cast<std::uint64_t>(count_of(sum, field, part) + count_of(more, field, part));
}

/// The points of one variant. The first shard names all of them, the others those at which they had
/// faults, and those that go by the same name.
class PointTally {
 public:
  void take(Json& points, std::int64_t shard, const ShardPart& part) {
    for (const Json& point : points) {
      Counts& counts = counts_of(point, shard);
      const std::int64_t passes = count_of(point, "passes", part);
      if (counts.passes != kUnknown && counts.passes != passes) {
        refuse(part, fmt::format("of other work: its passes is {}, not {}", passes, counts.passes));
      }
      counts.passes = passes;
      counts.faults += count_of(point, "faults", part);
      counts.unhandled += count_of(point, "unhandled", part);
    }
    if (shard == 1) all_ = std::move(points);
    points = Json::array();
  }

  /// As the first shard lists them, with what all shards had there.
  Json all(const ShardPart& sum) {
    for (Json& point : all_) {
      const Counts& counts = counts_of(point, kAfterAllShards);
      // Unsigned, as they would be read.
      point.at("faults") = static_cast<std::uint64_t>(counts.faults);
      point.at("unhandled") = static_cast<std::uint64_t>(counts.unhandled);
    }
    if (all_.size() != known_) refuse(sum, "of another program: other points");
    return std::move(all_);
  }

 private:
  static constexpr std::int64_t kUnknown = -1;
  static constexpr std::int64_t kAfterAllShards = -1;

  struct Counts {
    std::int64_t passes = kUnknown;
    std::int64_t faults = 0;
    std::int64_t unhandled = 0;
    std::int64_t shard = 0;        ///< that was counted last
    std::unique_ptr<Counts> next;  ///< of the next point of this name; null: there is none
  };

  /// Of the first point of this name that the shard has not had yet.
  Counts& counts_of(const Json& point, std::int64_t shard) {
    auto [first, is_new] = counts_.try_emplace(point.at("point").get_ref<const std::string&>());
    Counts* counts = &first->second;
    while (!is_new && counts->shard == shard) {
      is_new = counts->next == nullptr;
      if (is_new) counts->next = std::make_unique<Counts>();
      counts = counts->next.get();
    }
    counts->shard = shard;
    if (is_new) ++known_;
    return *counts;
  }

  Json all_ = Json::array();
  std::unordered_map<std::string, Counts> counts_;  ///< by name
  std::size_t known_ = 0;
};

/// As one machine lists them: by the call that failed, transient before persistent.
void sort_failed(Json& failed) {
  const auto place = [](const Json& fault) {
    return std::make_tuple(fault.at("call").get<std::int64_t>(),
                           fault.at("form").get<std::string>() == "persistent");
  };
  std::stable_sort(failed.begin(), failed.end(),
                   [&](const Json& a, const Json& b) { return place(a) < place(b); });
}

RecoveryNote read_note(const Json& json, const ShardPart& part) {
  RecoveryNote note;
  const auto deviation = json.at("deviation").get<std::string>();
  const auto* const known =
      std::find(kRecoveryDeviationNames.begin(), kRecoveryDeviationNames.end(), deviation);
  if (known == kRecoveryDeviationNames.end()) {
    refuse(part, fmt::format("with a note of \"{}\", which is unknown", deviation));
  }
  note.deviation = static_cast<RecoveryDeviation>(known - kRecoveryDeviationNames.begin());
  note.count = count_of(json, "count", part);
  note.plan = json.at("plan").get<std::string>();
  if (json.at("form") == name_of(FaultForm::persistent)) note.form = FaultForm::persistent;
  note.call = count_of(json, "call", part);
  note.line = json.value("line", "");
  note.bytes = json.contains("bytes") ? count_of(json, "bytes", part) : 0;
  return note;
}

/// One of a kind, in the order of the kinds; left out where there is none, as of one machine.
void merge_notes(Json& sum, const Json& more, const ShardPart& part) {
  std::map<RecoveryDeviation, RecoveryNote> sums;
  for (const Json* const variant : {static_cast<const Json*>(&sum), &more}) {
    if (!variant->contains("notes")) continue;
    for (const Json& json : list_of(*variant, "notes", part)) {
      const RecoveryNote note = read_note(json, part);
      const auto [known, is_first] = sums.emplace(note.deviation, note);
      if (!is_first) known->second = sum_of(known->second, note);
    }
  }
  if (sums.empty()) return;
  const JsonWriter writer(JsonText::printable, [](double value) { return Json(value); });
  Json notes = Json::array();
  for (const auto& [deviation, note] : sums) notes.push_back(writer.object(note));
  // Numbers as they would be read: the next shard's are added to them.
  sum["notes"] = parse_json(json_line(notes));
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
  merge_notes(sum, more, part);
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
  void begin(ShardPart& sum) override {
    require_sweep(sum);
    take_points(sum);
  }
  void add(ShardPart& sum, ShardPart& part) override;
  void finish(ShardPart& sum) override;

 private:
  void take_points(ShardPart& part);

  std::vector<PointTally> points_;  ///< of the variants, in their order
};

/// Pre-condition: `part` has the variants of those before.
void SweepMerge::take_points(ShardPart& part) {
  const std::int64_t shard = count_of(part.json.at("shard"), "number", part);
  std::size_t place = 0;
  for (Json& scenario : part.json.at("scenarios")) {
    for (Json& variant : scenario.at("variants")) {
      if (place == points_.size()) points_.emplace_back();
      points_[place++].take(variant.at("points"), shard, part);
    }
  }
}

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
  take_points(part);
}

/// What failed is put in the order in which one machine lists it.
void SweepMerge::finish(ShardPart& sum) {
  auto points = points_.begin();
  for (Json& scenario : sum.json.at("scenarios")) {
    for (Json& variant : scenario.at("variants")) {
      sort_failed(variant.at("failed"));
      variant.at("points") = (points++)->all(sum);
    }
  }
}

}  // namespace

std::unique_ptr<ShardMerge> merge_of_sweeps() { return std::make_unique<SweepMerge>(); }

}  // namespace ohm::reports
