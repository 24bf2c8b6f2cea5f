#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "reports/ci/failed_place.h"
#include "reports/ci/github_report.h"
#include "reports/text/cause_text.h"
#include "reports/text/html_text.h"
#include "reports/text/markdown_text.h"
#include "reports/text/measured_text.h"
#include "reports/text/result_text.h"
#include "reports/text/unknown_values_text.h"

namespace ohm::reports {

namespace {

/// Indexed by Verdict.
constexpr std::array<std::string_view, kVerdictNames.size()> kMarks = {"✅", "❌", "❗", "⏭️",
                                                                       "⏺️"};

std::string_view mark_of(Verdict verdict) { return kMarks[static_cast<std::size_t>(verdict)]; }

bool is_bad(Verdict verdict) { return verdict == Verdict::failed || verdict == Verdict::error; }

std::string peak_of(const VariantResult& variant) {
  std::int64_t peak = 0;
  for (const DeviceResult& device : variant.devices) {
    peak = std::max(peak, device.peak_allocated_bytes);
  }
  return variant.devices.empty() ? "" : short_bytes(peak);
}

std::string row(const VariantResult& variant) {
  return fmt::format("| {} | {} | {} | {} | {} |\n", mark_of(variant.verdict),
                     markdown(variant.name), markdown(role_text(variant)), peak_of(variant),
                     markdown(variant.reason));
}

/// A list of the lines that read values which were not computed.
std::string unknown_values(const ScenarioResult& scenario) {
  std::string out;
  for (const VariantResult& variant : scenario.variants) {
    for (const std::string& line : unknown_value_lines(variant)) {
      out += fmt::format("- {}\n", markdown(line));
    }
  }
  return out.empty() ? "" : out + "\n";
}

std::string table(const ScenarioResult& scenario) {
  if (scenario.variants.empty()) return "";
  std::string out = "|  | variant | role | peak | what was found |\n|---|---|---|---:|---|\n";
  for (const VariantResult& variant : scenario.variants) out += row(variant);
  const std::string modelled = modelled_text(scenario);
  out += modelled.empty() ? "\n" : fmt::format("\n{}\n\n", markdown_code(modelled));
  return out + unknown_values(scenario);
}

std::string broken_limits(const VariantResult& variant) {
  std::string out;
  for (const LimitResult& limit : variant.limits) {
    if (limit.holds == false) out += fmt::format("  - {}\n", markdown(limit_sentence(limit)));
  }
  return out;
}

std::string cause_row(const ScenarioResult& scenario, const CauseLine& line, bool has_before) {
  const std::string place =
      line.file.empty() ? "no line of the program"
                        : fmt::format("{}:{}", repository_path(scenario, line.file), line.line);
  const std::string before =
      has_before ? fmt::format(" {} | +{} |", short_bytes(line.before_bytes.value_or(0)),
                               short_bytes(line.increase()))
                 : "";
  return fmt::format("| {} | {} | {} |{}\n", markdown_code(place), markdown(line.op),
                     short_bytes(line.bytes), before);
}

/// The lines of what is too large, or of what changed.
std::string cause_table(const ScenarioResult& scenario, const VariantResult& variant) {
  if (!variant.cause) return "";
  const CauseResult& cause = *variant.cause;
  const bool has_before = !cause.lines.empty() && cause.lines.front().before_bytes.has_value();
  std::string out =
      fmt::format("\n{}\n\n| line | op | bytes |{}\n|---|---|---:|{}\n", markdown(cause.what),
                  has_before ? " before | change |" : "", has_before ? "---:|---:|" : "");
  for (const CauseLine& line : cause.lines) out += cause_row(scenario, line, has_before);
  const std::string others = other_cause_lines_text(cause);
  return others.empty() ? out + "\n" : out + "\n" + markdown(others) + "\n\n";
}

std::string failed_scenario(const ScenarioResult& scenario) {
  std::string out = fmt::format("### {} {}\n\n{}\n\n", mark_of(scenario.verdict),
                                markdown(scenario.name), markdown_code(scenario.file));
  if (scenario.error) {
    out += markdown_code(scenario.error->message) + "\n\n";
    if (!scenario.error->hint.empty()) out += markdown_code(scenario.error->hint) + "\n\n";
  }
  out += table(scenario);
  for (const VariantResult& variant : scenario.variants) {
    if (!is_bad(variant.verdict)) continue;
    out += fmt::format("- **{}**{}{}: {}\n{}  - {}\n", markdown(variant.name),
                       variant.failure_type == FailureType::none ? "" : " ",
                       markdown(name_of(variant.failure_type)), markdown(variant.reason),
                       broken_limits(variant), markdown_code(variant.rerun));
    out += cause_table(scenario, variant);
  }
  return out + "\n";
}

std::string passed_scenario(const ScenarioResult& scenario) {
  return fmt::format("<details><summary>{} {}</summary>\n\n{}\n\n{}</details>\n\n",
                     mark_of(scenario.verdict), html(scenario.name), markdown(scenario.summary),
                     table(scenario));
}

bool is_bad(const ScenarioResult& scenario) {
  return scenario.error.has_value() || is_bad(scenario.verdict);
}

}  // namespace

std::string github_summary(const RunResult& result, const ReportStyle& /*style*/) {
  constexpr std::size_t kRoomForTheEnd = 200;
  std::string out = "## ohm: " + run_summary(result) + "\n\n";
  std::size_t left_out = 0;
  const auto add = [&](const std::string& part) {
    if (out.size() + part.size() + kRoomForTheEnd > kMostSummaryBytes) {
      ++left_out;
    } else {
      out += part;
    }
  };
  for (const ScenarioResult& scenario : result.scenarios) {
    if (is_bad(scenario)) add(failed_scenario(scenario));
  }
  for (const ScenarioResult& scenario : result.scenarios) {
    if (!is_bad(scenario)) add(passed_scenario(scenario));
  }
  if (left_out > 0) {
    out += fmt::format("{} scenario{} more; a summary has no more room.\n", left_out,
                       left_out == 1 ? "" : "s");
  }
  return out;
}

}  // namespace ohm::reports
