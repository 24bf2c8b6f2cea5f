#include "reports/ci/code_quality_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "reports/ci/failed_place.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

using Json = nlohmann::ordered_json;

/// FNV-1a.
std::string fingerprint_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  }
  return fmt::format("{:016x}", hash);
}

Json issue(const ScenarioResult& scenario, const std::string& check, const std::string& of,
           const std::string& description, const FailedPlace& place) {
  return {{"description", printable(description)},
          {"check_name", "ohm." + check},
          {"fingerprint", fingerprint_of(fmt::format("{}\n{}\n{}", scenario.name, of, check))},
          {"severity", check == "error" ? "blocker" : "major"},
          {"location",
           {{"path", printable(repository_path(scenario, place.file))},
            {"lines", {{"begin", std::max(1, place.line)}}}}}};
}

std::string check_of(const VariantResult& variant) {
  if (variant.verdict == Verdict::error) return "error";
  return std::string(variant.failure_type == FailureType::none ? name_of(variant.outcome)
                                                               : name_of(variant.failure_type));
}

}  // namespace

std::string code_quality_report(const RunResult& result, const ReportStyle& /*style*/) {
  Json issues = Json::array();
  for (const ScenarioResult& scenario : result.scenarios) {
    if (scenario.error) {
      issues.push_back(
          issue(scenario, "error", "", scenario.error->message, place_of_load_error(scenario)));
    }
    for (const VariantResult& variant : scenario.variants) {
      const bool is_bad = variant.verdict == Verdict::failed || variant.verdict == Verdict::error;
      if (!is_bad) continue;
      issues.push_back(issue(scenario, check_of(variant), variant.name,
                             fmt::format("{}.{}: {}", scenario.name, variant.name, variant.reason),
                             failed_place(scenario, variant)));
    }
  }
  return issues.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ohm::reports
