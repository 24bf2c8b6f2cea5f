#include "reports/sweep_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "reports/sweep_json.h"

namespace ohm::reports {
namespace {

using Json = nlohmann::json;

[[noreturn]] void refuse(std::size_t part, std::string_view why) {
  throw std::invalid_argument(fmt::format("part {}: {}", part + 1, why));
}

Json parsed(const std::string& text, std::size_t part) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || json.value("schema", "") != kSweepSchema) {
    refuse(part, fmt::format("not a report of a sweep ({})", kSweepSchema));
  }
  return json;
}

void require_equal(const Json& a, const Json& b, std::string_view field, std::size_t part) {
  if (a.at(field) == b.at(field)) return;
  refuse(part, fmt::format("of another sweep: its {} is {}, not {}", field, b.at(field).dump(),
                           a.at(field).dump()));
}

void add(Json& sum, const Json& more, std::string_view field) {
  sum.at(field) = sum.at(field).get<std::int64_t>() + more.at(field).get<std::int64_t>();
}

void merge_point(Json& sum, const Json& more, std::size_t part) {
  for (const char* const field : {"point", "passes"}) require_equal(sum, more, field, part);
  for (const char* const field : {"faults", "unhandled"}) add(sum, more, field);
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

void merge_variant(Json& sum, const Json& more, std::size_t part) {
  for (const char* const field : {"name", "calls", "values", "error", "peak_bytes"}) {
    require_equal(sum, more, field, part);
  }
  // What could not be swept says so in every shard.
  if (sum.at("verdicts").at("nondeterministic") != 0 && more.at("faults") == 0) return;
  for (const char* const field :
       {"faults", "benign", "handled", "repeated_calls", "waived", "untested"})
    add(sum, more, field);
  Json& peak = sum.at("peak_after_faults_bytes");
  peak = std::max(peak.get<std::int64_t>(), more.at("peak_after_faults_bytes").get<std::int64_t>());
  for (const auto& [verdict, count] : more.at("verdicts").items()) {
    add(sum.at("verdicts"), more.at("verdicts"), verdict);
  }
  Json& points = sum.at("points");
  if (points.size() != more.at("points").size()) refuse(part, "of another program: other points");
  for (std::size_t i = 0; i < points.size(); ++i) {
    merge_point(points[i], more.at("points")[i], part);
  }
  for (const Json& failed : more.at("failed")) sum.at("failed").push_back(failed);
  sort_failed(sum.at("failed"));
}

void merge_scenario(Json& sum, const Json& more, std::size_t part) {
  for (const char* const field : {"name", "file", "error"}) require_equal(sum, more, field, part);
  Json& variants = sum.at("variants");
  if (variants.size() != more.at("variants").size()) refuse(part, "of other variants");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    merge_variant(variants[i], more.at("variants")[i], part);
  }
}

ExitReason reason_named(const std::string& name, std::size_t part) {
  const auto* const known = std::find_if(kExitCodes.begin(), kExitCodes.end(),
                                         [&](const ExitCode& code) { return code.reason == name; });
  if (known == kExitCodes.end()) refuse(part, fmt::format("exit_reason \"{}\" is unknown", name));
  return static_cast<ExitReason>(known - kExitCodes.begin());
}

void merge(Json& sum, const Json& more, std::size_t part) {
  for (const char* const field : {"points", "form", "level", "host", "depth"}) {
    require_equal(sum, more, field, part);
  }
  const ExitReason reason =
      worse_of(reason_named(sum.at("exit_reason"), 0), reason_named(more.at("exit_reason"), part));
  sum.at("exit_reason") = exit_code(reason).reason;
  Json& scenarios = sum.at("scenarios");
  if (scenarios.size() != more.at("scenarios").size()) refuse(part, "of other scenarios");
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    merge_scenario(scenarios[i], more.at("scenarios")[i], part);
  }
}

}  // namespace

MergedSweep merged_sweeps(const std::vector<std::string>& parts) {
  if (parts.empty()) throw std::invalid_argument("there is nothing to merge");
  Json sum = parsed(parts[0], 0);
  for (std::size_t part = 1; part < parts.size(); ++part) {
    const Json more = parsed(parts[part], part);
    try {
      merge(sum, more, part);
    } catch (const Json::exception& missing) {
      refuse(part, fmt::format("a field is missing or wrong: {}", missing.what()));
    }
  }
  return {sum.dump(2) + "\n", reason_named(sum.value("exit_reason", ""), 0)};
}

}  // namespace ohm::reports
