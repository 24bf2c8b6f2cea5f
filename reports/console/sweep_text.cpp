#include "reports/console/sweep_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "allocator_shim/base/format_bytes.h"
#include "reports/console/recovery_note_text.h"
#include "reports/console/sweep_coverage.h"
#include "reports/text/measured_text.h"
#include "reports/text/paint.h"
#include "reports/text/printable_fields.h"
#include "reports/text/result_text.h"
#include "reports/text/text_layout.h"

namespace ohm::reports {
namespace {

constexpr std::size_t kMostFailedShown = 9;

std::string count_text(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", grouped(count), what, count == 1 ? "" : "s");
}

std::string verdicts_text(const SweptVariant& variant) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kFaultVerdicts.size(); ++i) {
    if (variant.verdicts[i] == 0) continue;
    parts.push_back(fmt::format("{} {}", grouped(variant.verdicts[i]), kFaultVerdicts[i].name));
  }
  if (variant.untested != 0)
    parts.push_back(fmt::format("{} not tested", grouped(variant.untested)));
  if (variant.benign != 0) parts.push_back(fmt::format("{} benign", grouped(variant.benign)));
  if (variant.waived != 0) parts.push_back(fmt::format("{} waived", grouped(variant.waived)));
  return fmt::format("{}", fmt::join(parts, " · "));
}

/// Calls that ask for no memory have no bytes.
std::string request_text(const FailedFault& failed) {
  const std::string op = failed.op.empty() ? "outside any op" : failed.op;
  if (failed.bytes == 0 && !failed.op.empty()) return op;
  return human_bytes(static_cast<std::size_t>(failed.bytes)) + " for " + op;
}

std::string failed_text(const FailedFault& failed, const ReportStyle& style) {
  std::string text = fmt::format("      {} at {}: {}, {}\n",
                                 painted(name_of(failed.verdict), Tone::bad, style.color),
                                 failed.plan.empty() ? "no fault" : failed.plan,
                                 request_text(failed), place_text(failed.file, failed.line));
  text += indented(printable(failed.what), 8, style.columns);
  for (const std::string& line : failed.stack) text += indented(printable(line), 10, style.columns);
  if (!failed.waived.empty()) {
    text += indented("waived: " + printable(failed.waived), 8, style.columns);
  }
  return text + fmt::format("        re-run: {}\n", printable(failed.rerun));
}

/// "56 in python3.11 itself; the script cannot prevent them: 50 crash · 6 wrong_error".
std::string interpreter_text(const SweptVariant& variant) {
  std::map<std::string, std::map<FaultVerdict, std::int64_t>> counts;
  for (const FailedFault& failed : variant.failed) {
    if (!failed.interpreter.empty()) ++counts[failed.interpreter][failed.verdict];
  }
  std::string text;
  for (const auto& [interpreter, verdicts] : counts) {
    std::vector<std::string> parts;
    std::int64_t sum = 0;
    for (const auto& [verdict, count] : verdicts) {
      parts.push_back(fmt::format("{} {}", grouped(count), name_of(verdict)));
      sum += count;
    }
    text += fmt::format("      {} in {} itself; the script cannot prevent them: {}\n", grouped(sum),
                        printable(interpreter), fmt::join(parts, " · "));
  }
  return text;
}

std::string points_text(const SweptVariant& variant) {
  std::string text;
  for (const SweepPoint& point : variant.points) {
    if (point.unhandled == 0) continue;
    text += fmt::format("      under no handler: {} {} {}\n", point.point,
                        point.op.empty() ? "outside any op" : point.op,
                        place_text(point.file, point.line));
  }
  return text;
}

std::string variant_text(const SweptVariant& variant, std::size_t name_width,
                         const ReportStyle& style) {
  const bool clean = is_clean(variant);
  if (clean && style.detail == Detail::quiet) return {};
  std::string text = fmt::format(
      "  {} {}  ", painted(clean ? "✓" : "✗", clean ? Tone::good : Tone::bad, style.color),
      pad_right(variant.name, name_width));
  if (variant.error) {
    text +=
        fmt::format("not swept\n{}", indented(printable(variant.error->message), 6, style.columns));
    if (!variant.error->hint.empty()) {
      text += indented(printable(variant.error->hint), 6, style.columns);
    }
    return text;
  }
  text += fmt::format("{} of {} at {}: {}\n", count_text(variant.faults, "fault"),
                      count_text(variant.calls, "call"),
                      count_text(static_cast<std::int64_t>(variant.points.size()), "point"),
                      verdicts_text(variant));
  std::size_t shown = 0;
  for (const FailedFault& failed : variant.failed) {
    if (is_excused(failed) && style.detail != Detail::verbose) continue;
    if (++shown <= kMostFailedShown || style.detail == Detail::verbose) {
      text += failed_text(failed, style);
    }
  }
  if (shown > kMostFailedShown && style.detail != Detail::verbose) {
    text += fmt::format("      {} more; -v shows them all\n", shown - kMostFailedShown);
  }
  text += interpreter_text(variant);
  text += recovery_notes_text(variant, style);
  if (style.detail == Detail::verbose) text += points_text(variant);
  return text;
}

struct Totals {
  std::int64_t variants = 0;
  std::int64_t faults = 0;
  std::int64_t bad = 0;
  std::int64_t waived = 0;
  std::int64_t waivers = 0;
  std::int64_t of_interpreters = 0;
  std::int64_t untested = 0;
  std::int64_t calls = 0;
  std::int64_t not_tried = 0;
  std::int64_t beyond_budget = 0;
  std::int64_t unswept = 0;
  std::int64_t points = 0;
  std::int64_t unhandled = 0;
};

/// How many waivers were needed: each has a reason of its own.
std::int64_t count_waivers(const SweptVariant& variant) {
  std::set<std::string_view> reasons;
  for (const FailedFault& failed : variant.failed) {
    if (is_waived(failed)) reasons.insert(failed.waived);
  }
  return static_cast<std::int64_t>(reasons.size());
}

Totals totals_of(const SweepResult& result) {
  Totals totals;
  for (const SweptScenario& scenario : result.scenarios) {
    totals.unswept += scenario.error ? 1 : 0;
    for (const SweptVariant& variant : scenario.variants) {
      ++totals.variants;
      totals.unswept += variant.error ? 1 : 0;
      totals.faults += variant.faults;
      for (const FailedFault& failed : variant.failed) {
        totals.bad += is_excused(failed) ? 0 : 1;
        totals.of_interpreters += is_excused(failed) && !is_waived(failed) ? 1 : 0;
      }
      totals.waived += variant.waived;
      totals.waivers += count_waivers(variant);
      totals.untested += variant.untested;
      totals.calls += variant.calls;
      totals.not_tried += variant.not_tried;
      totals.beyond_budget += variant.beyond_budget;
      for (const SweepPoint& point : variant.points) {
        ++totals.points;
        totals.unhandled += point.unhandled != 0 ? 1 : 0;
      }
    }
  }
  return totals;
}

/// What the choice of points and forms leaves out; empty when nothing.
std::string not_tried_text(const SweepResult& result, const Totals& totals) {
  if (totals.not_tried == 0) return {};
  if (result.level == "call") {
    return fmt::format("not tried: {}; --points all tries them\n",
                       count_text(totals.not_tried, "other fault"));
  }
  std::vector<std::string> parts;
  if (result.points != "all") parts.emplace_back("other passes of the same points");
  if (result.form != "both") {
    parts.push_back(result.form == "transient" ? "persistent failures" : "transient failures");
  }
  if (totals.beyond_budget != 0) {
    parts.push_back(grouped(totals.beyond_budget) + " beyond the budget");
  }
  const auto forms = static_cast<std::int64_t>(kFaultFormNames.size());
  return fmt::format("not tried: {} of {} ({}); --points all --form both tries them\n",
                     grouped(totals.not_tried), count_text(totals.calls * forms, "failure"),
                     fmt::join(parts, ", "));
}

}  // namespace

std::string sweep_scenario_text(const SweptScenario& swept, const ReportStyle& style) {
  const SweptScenario scenario = printable_copy(swept);
  const bool clean = is_clean(scenario);
  if (clean && style.detail == Detail::quiet) return {};
  std::string text =
      fmt::format("{}\n", painted(printable(scenario.name), Tone::strong, style.color));
  if (scenario.error) {
    return text + indented(printable(scenario.error->message), 2, style.columns) + "\n";
  }
  std::size_t width = 0;
  for (const SweptVariant& variant : scenario.variants) {
    width = std::max(width, display_width(variant.name));
  }
  for (const SweptVariant& variant : scenario.variants) text += variant_text(variant, width, style);
  return text + sweep_coverage_text(scenario) + "\n";
}

std::string sweep_summary_text(const SweepResult& swept, const ReportStyle& style) {
  const SweepResult result = printable_copy(swept);
  const Totals totals = totals_of(result);
  std::string text = fmt::format(
      "{}{} in {}, {} ({} points, {}{}{})\n", shard_text(result.shard),
      count_text(totals.faults, "fault"), count_text(totals.variants, "variant"),
      count_text(static_cast<std::int64_t>(result.scenarios.size()), "scenario"), result.points,
      result.form == "both" ? "transient and persistent" : result.form,
      result.level == "request" ? "" : ", level " + result.level, result.host ? ", host too" : "");
  text += fmt::format("{} of {} are under no handler\n", grouped(totals.unhandled),
                      count_text(totals.points, "point"));
  text += not_tried_text(result, totals);
  const bool is_whole = totals.untested == 0 && totals.unswept == 0;
  std::string verdict = count_text(totals.bad, "bad verdict");
  if (totals.bad == 0 && totals.faults == 0) verdict = "no verdicts";
  if (totals.bad == 0 && totals.faults > 0) {
    verdict = is_whole ? "every verdict is good" : "not finished: no bad verdict so far";
  }
  text += painted(verdict, totals.bad == 0 && is_whole ? Tone::good : Tone::bad, style.color);
  if (totals.waived != 0) {
    text += fmt::format(", {} waived by {}", grouped(totals.waived),
                        count_text(totals.waivers, "waiver"));
  }
  if (totals.of_interpreters != 0) {
    text += fmt::format(", {} more in the interpreter itself, not counted",
                        grouped(totals.of_interpreters));
  }
  if (totals.untested != 0) {
    text += fmt::format(", {} not tested", count_text(totals.untested, "fault"));
  }
  if (totals.unswept != 0) text += fmt::format(", {} not swept", grouped(totals.unswept));
  return text + "\n";
}

}  // namespace ohm::reports
