#include "reports/json/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "reports/json/fit_json.h"
#include "reports/json/json_report.h"
#include "reports/json/merge_part.h"
#include "reports/json/sweep_json.h"
#include "reports/json/verification_json.h"
#include "reports/text/json_text.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

/// All of the shards are of one thing.
MergeSubject no_subject(const ShardPart& /*part*/) { return {}; }

/// Reports that can be of a shard.
struct ReportKind {
  std::string_view schema;
  std::unique_ptr<ShardMerge> (*merge)();
  /// What has shards of its own.
  MergeSubject (*subject_of)(const ShardPart& part) = no_subject;
  /// Puts two subjects together, each of them whole; nullptr: there is only one.
  void (*join)(ShardPart& sum, ShardPart& more) = nullptr;
};

constexpr std::array kKinds = {
    ReportKind{kResultSchema, merge_of_runs}, ReportKind{kSweepSchema, merge_of_sweeps},
    ReportKind{kFitSchema, merge_of_fits},
    ReportKind{kVerificationSchema, merge_of_verifications, card_of_part, join_cards}};

const ReportKind* kind_of(const Json& schema) {
  const auto* const known = std::find_if(kKinds.begin(), kKinds.end(), [&](const ReportKind& one) {
    return schema == std::string(one.schema);
  });
  return known == kKinds.end() ? nullptr : known;
}

ShardPart parsed(const ReportPart& report) {
  ShardPart part{report.name, json_or_discarded(report.json())};
  const bool has_schema = part.json.is_object() && part.json.contains("schema");
  if (!has_schema || kind_of(part.json["schema"]) == nullptr) {
    refuse(part,
           fmt::format("not a JSON report of a run ({}), of a sweep ({}), of a fit ({}) or of "
                       "a verification ({})",
                       kResultSchema, kSweepSchema, kFitSchema, kVerificationSchema));
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

/// Takes the shards of one subject, one at a time, in any order.
class Merger {
 public:
  explicit Merger(std::string subject) : subject_(std::move(subject)) {}

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

  /// The first shard that is not there; 0: none.
  std::int64_t missing() const {
    const std::int64_t count = is_whole_ ? 0 : count_of_shards(*sum_);
    for (std::int64_t number = 1; number <= count; ++number) {
      if (names_.count(number) == 0) return number;
    }
    return 0;
  }
  /// The file of this shard; empty: it is not there.
  std::string name_of(std::int64_t number) const {
    const auto found = names_.find(number);
    return found == names_.end() ? "" : found->second;
  }
  /// "2/5 of NVIDIA H200 (…)".
  std::string text_of(std::int64_t number) const {
    return fmt::format("{}/{}{}{}", number, count_of_shards(*sum_), subject_.empty() ? "" : " of ",
                       subject_);
  }

  /// Pre-condition: none is missing.
  ShardPart whole() {
    if (is_whole_) return std::move(*sum_);
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
    if (!names_.emplace(number, part.name).second) {
      refuse(part, fmt::format("shard {} is there twice", text_of(number)));
    }
  }

  std::string subject_;
  std::optional<ShardPart> sum_;
  std::unique_ptr<ShardMerge> merge_;
  std::map<std::int64_t, std::string> names_;  ///< of the parts, by shard
  bool is_whole_ = false;
};

/// Throws for the first shard of a subject that is not there. One that others which lack shards
/// have may be of the wrong card.
void require_all(const std::map<std::string, Merger>& subjects) {
  for (const auto& [key, merger] : subjects) {
    const std::int64_t number = merger.missing();
    if (number == 0) continue;
    std::string others;
    for (const auto& [other_key, other] : subjects) {
      if (other_key == key || other.missing() == 0 || other.name_of(number).empty()) continue;
      others += fmt::format("; {} is shard {}: all of a table have to be of one card",
                            other.name_of(number), other.text_of(number));
    }
    throw std::invalid_argument(
        fmt::format("shard {} is missing: without it this would not be the whole{}",
                    merger.text_of(number), others));
  }
}

/// Throws where they are of several types of cards, each of which has a report of its own.
void require_one_type(const ReportKind& kind, const ReportPart& first, const ReportPart& report) {
  if (kind.join != nullptr || first.folder_of_type == report.folder_of_type) return;
  throw std::invalid_argument(
      fmt::format("{} and {} are of two types of cards, each of which has a report of its own: ohm "
                  "merge {}",
                  first.folder_of_type, report.folder_of_type, first.folder_of_type));
}

/// The reports, each with the others of its subject.
ShardPart merged(const std::vector<ReportPart>& reports) {
  std::map<std::string, Merger> subjects;
  const ReportKind* kind = nullptr;
  for (const ReportPart& report : reports) {
    ShardPart part = parsed(report);
    if (kind == nullptr) kind = kind_of(part.json["schema"]);
    require_one_type(*kind, reports.front(), report);
    // One of another kind is told by those that it is merged with.
    const bool is_alike = kind == kind_of(part.json["schema"]);
    const MergeSubject subject = is_alike ? kind->subject_of(part) : MergeSubject();
    const auto place = is_alike || subjects.empty()
                           ? subjects.try_emplace(subject.key, subject.text).first
                           : subjects.begin();
    place->second.add(std::move(part));
  }
  require_all(subjects);
  ShardPart sum = subjects.begin()->second.whole();
  for (auto other = std::next(subjects.begin()); other != subjects.end(); ++other) {
    ShardPart more = other->second.whole();
    told_of(more, [&] {
      require_same_work(sum, more);
      kind->join(sum, more);
    });
  }
  sum.json.erase("shard");
  return sum;
}

}  // namespace

MergedReport merged_reports(const std::vector<ReportPart>& reports) {
  if (reports.empty()) throw std::invalid_argument("there is nothing to merge");
  try {
    const ShardPart sum = merged(reports);
    MergedReport report;
    told_of(sum, [&] {
      report = {json_document(sum.json), sum.json.at("schema").get<std::string>(),
                exit_reason_of(sum)};
    });
    return report;
  } catch (const Json::exception& missing) {
    throw std::invalid_argument(fmt::format("a field is missing or wrong: {}", missing.what()));
  }
}

}  // namespace ohm::reports
