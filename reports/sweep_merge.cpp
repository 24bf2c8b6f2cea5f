#include "reports/sweep_merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
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
  const bool is_sweep =
      json.is_object() && json.contains("schema") && json["schema"] == std::string(kSweepSchema);
  if (!is_sweep) {
    refuse(part, fmt::format("not a report of a sweep ({})", kSweepSchema));
  }
  return json;
}

void require_equal(const Json& a, const Json& b, std::string_view field, std::size_t part) {
  if (a.at(field) == b.at(field)) return;
  refuse(part, fmt::format("of another sweep: its {} is {}, not {}", field, b.at(field).dump(),
                           a.at(field).dump()));
}

/// A field that no sweep writes like this.
class BadCount : public std::runtime_error {
 public:
  BadCount(std::string_view field, const Json& value)
      : std::runtime_error(fmt::format("{} is {}, no count", field, value.dump())) {}
};

std::int64_t count_of(const Json& json, std::string_view field) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 53U;  // sums of two do not overflow
  const Json& value = json.at(field);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMost) {
    throw BadCount(field, value);
  }
  return value.get<std::int64_t>();
}

void add(Json& sum, const Json& more, std::string_view field) {
  // Unsigned, as it would be read: the sum is added to once more.
  sum.at(field) = static_cast<std::uint64_t>(count_of(sum, field) + count_of(more, field));
}

/// How often a sweep fails what passes a point so often: once in each form, where it is asked for
/// only the first time it is passed.
std::int64_t most_faults(const Json& sweep, std::int64_t passes) {
  const std::int64_t forms = sweep.at("form") == "both" ? 2 : 1;
  return sweep.at("points") == "unique" ? forms : forms * passes;
}

void merge_point(const Json& sweep, Json& sum, const Json& more, std::size_t part) {
  for (const char* const field : {"point", "passes"}) require_equal(sum, more, field, part);
  for (const char* const field : {"faults", "unhandled"}) add(sum, more, field);
  if (count_of(sum, "faults") > most_faults(sweep, count_of(sum, "passes"))) {
    refuse(part, fmt::format("has faults at {} that an earlier part has too; give each shard once",
                             sum.at("point").dump()));
  }
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

void merge_variant(const Json& sweep, Json& sum, const Json& more, std::size_t part) {
  for (const char* const field : {"name", "calls", "values", "error", "peak_bytes"}) {
    require_equal(sum, more, field, part);
  }
  // What could not be swept says so in every shard.
  if (sum.at("verdicts").at("nondeterministic") != 0 && more.at("faults") == 0) return;
  for (const char* const field :
       {"faults", "benign", "handled", "repeated_calls", "waived", "untested"})
    add(sum, more, field);
  Json& peak = sum.at("peak_after_faults_bytes");
  peak = static_cast<std::uint64_t>(std::max(count_of(sum, "peak_after_faults_bytes"),
                                             count_of(more, "peak_after_faults_bytes")));
  for (const auto& [verdict, count] : more.at("verdicts").items()) {
    add(sum.at("verdicts"), more.at("verdicts"), verdict);
  }
  Json& points = sum.at("points");
  if (points.size() != more.at("points").size()) refuse(part, "of another program: other points");
  for (std::size_t i = 0; i < points.size(); ++i) {
    merge_point(sweep, points[i], more.at("points")[i], part);
  }
  for (const Json& failed : more.at("failed")) sum.at("failed").push_back(failed);
  sort_failed(sum.at("failed"));
}

void merge_scenario(const Json& sweep, Json& sum, const Json& more, std::size_t part) {
  for (const char* const field : {"name", "file", "error"}) require_equal(sum, more, field, part);
  Json& variants = sum.at("variants");
  if (variants.size() != more.at("variants").size()) refuse(part, "of other variants");
  for (std::size_t i = 0; i < variants.size(); ++i) {
    merge_variant(sweep, variants[i], more.at("variants")[i], part);
  }
}

ExitReason reason_of(const Json& sweep, std::size_t part) {
  const Json& name = sweep.at("exit_reason");
  const auto* const known = std::find_if(
      kExitCodes.begin(), kExitCodes.end(),
      [&](const ExitCode& code) { return name.is_string() && name == std::string(code.reason); });
  if (known == kExitCodes.end())
    refuse(part, fmt::format("exit_reason {} is unknown", name.dump()));
  return static_cast<ExitReason>(known - kExitCodes.begin());
}

void merge(Json& sum, const Json& more, std::size_t part) {
  for (const char* const field : {"points", "form", "level", "host", "depth"}) {
    require_equal(sum, more, field, part);
  }
  const ExitReason reason = worse_of(reason_of(sum, 0), reason_of(more, part));
  sum.at("exit_reason") = exit_code(reason).reason;
  Json& scenarios = sum.at("scenarios");
  if (scenarios.size() != more.at("scenarios").size()) refuse(part, "of other scenarios");
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    merge_scenario(more, scenarios[i], more.at("scenarios")[i], part);
  }
}

}  // namespace

MergedSweep merged_sweeps(const std::vector<std::string>& parts) {
  if (parts.empty()) throw std::invalid_argument("there is nothing to merge");
  Json sum = parsed(parts[0], 0);
  std::size_t part = 0;
  try {
    ExitReason reason = reason_of(sum, 0);
    while (++part < parts.size()) {
      merge(sum, parsed(parts[part], part), part);
      reason = reason_of(sum, 0);
    }
    return {sum.dump(2) + "\n", reason};
  } catch (const Json::exception& missing) {
    refuse(part, fmt::format("a field is missing or wrong: {}", missing.what()));
  } catch (const BadCount& wrong) {
    refuse(part, fmt::format("a field is wrong: {}", wrong.what()));
  }
}

}  // namespace ohm::reports
