#include "reports/console/console_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "reports/console/console_breakdown.h"
#include "reports/console/console_findings.h"
#include "reports/console/console_oom.h"
#include "reports/console/console_plot.h"
#include "reports/console/console_retention.h"
#include "reports/text/cause_text.h"
#include "reports/text/limit_lines.h"
#include "reports/text/measured_text.h"
#include "reports/text/paint.h"
#include "reports/text/printable_fields.h"
#include "reports/text/result_text.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {

namespace {

constexpr std::size_t kRoleColumns = 10;
constexpr std::size_t kPeakColumns = 10;
constexpr std::size_t kLongestName = 24;

struct VerdictLook {
  const char* mark;
  Tone tone;
};

/// Indexed by Verdict.
constexpr std::array<VerdictLook, kVerdictNames.size()> kVerdictLooks = {{{"✓", Tone::good},
                                                                          {"✗", Tone::bad},
                                                                          {"!", Tone::bad},
                                                                          {"-", Tone::warning},
                                                                          {" ", Tone::plain}}};

const VerdictLook& look_of(Verdict verdict) {
  return kVerdictLooks[static_cast<std::size_t>(verdict)];
}

bool is_good(Verdict verdict) { return verdict == Verdict::passed || verdict == Verdict::recorded; }
bool is_good(const VariantResult& variant) { return is_good(variant.verdict); }

/// The rows of one scenario: columns as wide as its names need.
class VariantTable {
 public:
  VariantTable(const ScenarioResult& scenario, const ReportStyle& style) : style_(style) {
    for (const auto* variants : {&scenario.variants, &scenario.references}) {
      for (const VariantResult& variant : *variants) {
        name_columns_ = std::max(name_columns_, display_width(variant.name));
        numbers_columns_ = std::max(numbers_columns_, numbers_of(variant).size());
      }
    }
    name_columns_ = std::min(name_columns_, kLongestName);
    reason_at_ = 4 + kRoleColumns + 2 + name_columns_ + 2 + kPeakColumns + 2 + numbers_columns_ + 2;
  }

  std::string head() const {
    return "    " +
           painted(cells("role", "variant", "peak", "numbers") + "what was found", Tone::faint,
                   style_.color) +
           "\n";
  }

  std::string row(const VariantResult& variant) const {
    const VerdictLook& look = look_of(variant.verdict);
    const std::string text = cells(role_text(variant), shortened(variant.name, name_columns_),
                                   peak_of(variant), numbers_of(variant));
    const Tone tone = is_good(variant) ? Tone::plain : look.tone;
    return "  " + painted(look.mark, look.tone, style_.color) + " " + text +
           reason_lines(variant.reason, tone) + device_lines(variant);
  }

  /// A row of a variant that is not judged.
  std::string reference_row(const VariantResult& variant) const {
    const std::string text =
        cells("reference", shortened(variant.name, name_columns_), peak_of(variant), "");
    return "    " + painted(text, Tone::faint, style_.color) +
           reason_lines(variant.reason, Tone::faint);
  }

 private:
  std::string cells(std::string_view role, std::string_view name, std::string_view peak,
                    std::string_view numbers) const {
    return pad_right(role, kRoleColumns) + "  " + pad_right(name, name_columns_) + "  " +
           pad_left(peak, kPeakColumns) + "  " + pad_right(numbers, numbers_columns_) + "  ";
  }

  static std::string peak_of(const VariantResult& variant) {
    std::int64_t peak = 0;
    for (const DeviceResult& device : variant.devices) {
      peak = std::max(peak, device.peak_allocated_bytes);
    }
    return variant.devices.empty() ? "" : human_bytes(static_cast<std::uint64_t>(peak));
  }

  /// Only those who claim to compute the same have something to say.
  static std::string numbers_of(const VariantResult& variant) {
    const bool compared = variant.role == Role::mitigation || variant.role == Role::partial ||
                          variant.equivalence != Equivalence::not_checked;
    const bool told = variant.outcome == Outcome::completed && compared;
    return told ? std::string(name_of(variant.equivalence)) : "";
  }

  std::string reason_lines(const std::string& reason, Tone tone) const {
    std::string out;
    for (const std::string& line : wrapped(reason, style_.columns - reason_at_)) {
      if (!out.empty()) out += std::string(reason_at_, ' ');
      out += painted(line, tone, style_.color) + "\n";
    }
    return out;
  }

  /// Each GPU's peak, where there are several.
  std::string device_lines(const VariantResult& variant) const {
    if (variant.devices.size() < 2) return "";
    std::string text;
    for (const DeviceResult& device : variant.devices) {
      const auto peak = static_cast<std::uint64_t>(device.peak_allocated_bytes);
      // No-break spaces keep a device and its figure on one line.
      std::string figure = device.device + " " + human_bytes(peak);
      for (std::size_t at = 0; (at = figure.find(' ', at)) != std::string::npos;) {
        figure.replace(at, 1, "\u00A0");
      }
      text += (text.empty() ? "" : "  ") + figure;
    }
    return painted(indented(text, 4 + kRoleColumns + 2, style_.columns), Tone::faint, style_.color);
  }

  const ReportStyle& style_;
  std::size_t name_columns_ = 7;
  std::size_t numbers_columns_ = 7;
  std::size_t reason_at_ = 0;
};

const std::string& problem_of(const VariantResult& variant) {
  return variant.role == Role::problem ? variant.name : variant.of;
}

/// With several problems, each followed by what belongs to it; the rest comes last.
std::vector<const VariantResult*> by_problem(const ScenarioResult& scenario) {
  std::vector<std::string> problems;
  std::vector<const VariantResult*> rows;
  for (const VariantResult& variant : scenario.variants) {
    rows.push_back(&variant);
    if (variant.role == Role::problem) problems.push_back(variant.name);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const VariantResult* a, const VariantResult* b) {
    return std::find(problems.begin(), problems.end(), problem_of(*a)) <
           std::find(problems.begin(), problems.end(), problem_of(*b));
  });
  return rows;
}

std::string gpu_text(const ScenarioResult& scenario) {
  for (const VariantResult& variant : scenario.variants) {
    if (variant.devices.empty()) continue;
    const DeviceResult& device = variant.devices.front();
    // Of a recorded card there is no more than its record.
    const std::string card =
        device.capacity_bytes == 0
            ? device.profile
            : fmt::format("{} of {}, {}", device.profile,
                          human_bytes(static_cast<std::uint64_t>(device.capacity_bytes)),
                          device.values ? "values computed" : "size-only: no values");
    return fmt::format(" · {} × {} · {}{}", variant.devices.size(), card, device.rules,
                       device.alloc_conf.empty() ? "" : " with " + device.alloc_conf);
  }
  return "";
}

/// What was set from outside: the figures are of that.
std::string parameter_text(const ScenarioResult& scenario) {
  std::string out;
  for (const ParameterResult& parameter : scenario.parameters) {
    if (parameter.value == parameter.default_value) continue;
    out += fmt::format(" · {} = {:.10g} instead of {:.10g}", parameter.name, parameter.value,
                       parameter.default_value);
  }
  return out;
}

std::string scenario_head(const ScenarioResult& scenario, const ReportStyle& style) {
  const Tone tone = is_good(scenario.verdict) ? Tone::strong : Tone::bad;
  const std::string summary = scenario.summary.empty() ? "" : "  " + scenario.summary;
  // Wrapped before it is painted: escape sequences have no width.
  std::string title = indented(scenario.name + summary, 0, style.columns);
  title.replace(0, scenario.name.size(), painted(scenario.name, tone, style.color));
  return title + painted(indented(scenario.file + gpu_text(scenario) + parameter_text(scenario), 0,
                                  style.columns),
                         Tone::faint, style.color);
}

std::string error_block(const ErrorResult& error, std::size_t indent, const ReportStyle& style) {
  std::string out = painted(indented(error.message, indent, style.columns), Tone::bad, style.color);
  if (!error.traceback.empty()) out += indented(error.traceback, indent + 2, style.columns);
  if (!error.hint.empty()) out += indented(error.hint, indent, style.columns);
  return out;
}

std::string limit_sentences(const VariantResult& variant, const ReportStyle& style) {
  std::string out;
  for (const LimitResult& limit : variant.limits) {
    out += indented(limit_sentence(limit), 6, style.columns);
  }
  return out;
}

std::string output_lines(const VariantResult& variant, const ReportStyle& style) {
  if (variant.output.empty()) return "";
  return "      it printed:\n" + indented(variant.output, 8, style.columns);
}

/// What a failed variant needs: every figure, the error, and the command that repeats it.
std::string details(const VariantResult& variant, const ReportStyle& style) {
  const VerdictLook& look = look_of(variant.verdict);
  const std::string type = variant.failure_type == FailureType::none
                               ? ""
                               : fmt::format(" ({})", name_of(variant.failure_type));
  std::string out =
      "  " +
      painted(fmt::format("{} {} {}{}", look.mark, variant.name, name_of(variant.verdict), type),
              look.tone, style.color) +
      "\n";
  out += limit_sentences(variant, style);
  if (variant.cause) out += indented(cause_text(variant), 6, style.columns);
  if (!variant.difference.empty()) out += indented(variant.difference, 6, style.columns);
  // An out-of-memory error stands below, with who holds the memory.
  const bool is_told = variant.outcome == Outcome::oom && variant.oom;
  if (variant.error && !is_told) out += error_block(*variant.error, 6, style);
  out += output_lines(variant, style);
  return out + "      re-run: " + variant.rerun + "\n";
}

bool wants_oom_block(const VariantResult& variant, Detail detail) {
  if (!variant.oom) return false;
  if (detail == Detail::verbose || !is_good(variant)) return true;
  // A record tells that memory ran out, and not whether that ended the program.
  const bool is_of_record = variant.outcome == Outcome::completed;
  if (detail == Detail::normal && is_of_record) return true;
  return detail == Detail::normal && variant.role == Role::problem;
}

/// Memory over time, and the script with what its lines held.
std::string pictures(const ScenarioResult& scenario, const ReportStyle& style) {
  std::string out;
  const auto add = [&out](const std::string& block) {
    if (!block.empty()) out += "\n" + block;
  };
  if (style.plots) add(console_plots(scenario, style));
  if (!style.peaks || scenario.variants.empty()) return out;
  if (style.detail != Detail::verbose) {
    add(console_source(scenario, scenario.variants[lead_variant(scenario)], style));
    return out;
  }
  for (const VariantResult& variant : scenario.variants) {
    add(console_source(scenario, variant, style));
  }
  return out;
}

// What the figures of some variant rest on.
std::string faint_line(const std::string& text, const ReportStyle& style) {
  if (text.empty()) return "";
  return painted(indented(text, 4, style.columns), Tone::faint, style.color);
}

std::string blocks_after_table(const ScenarioResult& scenario, const ReportStyle& style) {
  std::string out;
  const auto add = [&out](const std::string& block) { out += "\n" + block; };
  for (const VariantResult& variant : scenario.variants) {
    const bool skipped = variant.verdict == Verdict::skipped;
    const bool wants_details = style.detail == Detail::verbose || !is_good(variant);
    if (wants_details && !skipped) add(details(variant, style));
    const bool wants_oom = wants_oom_block(variant, style.detail);
    if (wants_oom) add(console_oom(variant.name, variant, style));
    // Where memory ran out, what was alive has just been said.
    const std::string peaks = style.peaks && !wants_oom ? console_peaks(variant, style) : "";
    if (!peaks.empty()) add(peaks);
    if (wants_oom || style.peaks) {
      const std::string retention = console_retention(variant.name, variant, style);
      if (!retention.empty()) add(retention);
    }
    const std::string concluded = wants_oom ? "" : console_conclusion(variant, style);
    if (!concluded.empty()) add(concluded);
    const std::string findings = console_findings(variant, style);
    if (!findings.empty()) add(findings);
  }
  return out + pictures(scenario, style);
}

}  // namespace

std::string console_scenario(const ScenarioResult& result, const ReportStyle& style) {
  const ScenarioResult scenario = printable_copy(result);
  if (style.detail == Detail::quiet && is_good(scenario.verdict)) return "";
  std::string out = scenario_head(scenario, style);
  if (scenario.error) out += error_block(*scenario.error, 2, style);
  const VariantTable table(scenario, style);
  if (!scenario.variants.empty()) out += "\n" + table.head();
  const VariantResult* previous = nullptr;
  for (const VariantResult* variant : by_problem(scenario)) {
    if (style.detail == Detail::quiet && is_good(*variant)) continue;
    if (previous != nullptr && problem_of(*previous) != problem_of(*variant)) out += "\n";
    out += table.row(*variant);
    previous = variant;
  }
  if (style.detail != Detail::quiet) {
    for (const VariantResult& variant : scenario.references) out += table.reference_row(variant);
  }
  if (style.detail != Detail::quiet) {
    out += faint_line(card_text(scenario), style) + faint_line(modelled_text(scenario), style);
  }
  return out + blocks_after_table(scenario, style) + "\n";
}

std::string console_summary(const RunResult& result, const ReportStyle& style) {
  const Tone tone = result.exit_reason == ExitReason::passed ? Tone::good : Tone::bad;
  return painted(printable(run_summary(result)), tone, style.color) + "\n";
}

std::string console_report(const RunResult& result, const ReportStyle& style) {
  std::string out;
  for (const ScenarioResult& scenario : result.scenarios) out += console_scenario(scenario, style);
  return out + console_summary(result, style);
}

}  // namespace ohm::reports
