#include "harness/cli/run_publication.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "harness/cli/github_actions.h"
#include "harness/cli/option_values.h"
#include "harness/cli/report_outputs.h"
#include "harness/cli/resume_option.h"
#include "harness/cli/terminal.h"
#include "harness/judge/tighter_limits.h"
#include "reports/text/text_layout.h"

namespace ohm::cli {

namespace {

/// Why nothing ran.
std::string nothing_selected_text(const engine::RunOptions& run, const Environment& environment) {
  const std::string unknown = unknown_case(run, environment);
  return unknown.empty() ? "no variant matches; run ohm list to see them" : unknown;
}

/// A plan that meets nothing is often a mistake: says which, and where.
void warn_unused_faults(const RunResult& result) {
  std::map<std::string, std::vector<std::string>> variants;
  for (const ScenarioResult& scenario : result.scenarios) {
    for (const VariantResult& variant : scenario.variants) {
      for (const std::string& plan : variant.unused_faults) {
        variants[plan].push_back(fmt::format("{}.{}", scenario.name, variant.name));
      }
    }
  }
  for (const auto& [plan, names] : variants) {
    write_stderr(reports::printable(fmt::format(
                     "ohm: the fault {} never fired in {} {}: {}", plan, names.size(),
                     names.size() == 1 ? "variant" : "variants", fmt::join(names, ", "))) +
                 "\n");
  }
}

std::string tighter_limit_line(const engine::TighterLimit& limit) {
  if (limit.why_not.empty()) {
    return fmt::format("    {}: {} holds ({})\n", limit.limit, limit.tightest, limit.variant);
  }
  const std::string of = limit.variant.empty() ? "" : fmt::format(" ({})", limit.variant);
  return fmt::format("    {}: {}{}\n", limit.limit, limit.why_not, of);
}

/// What limits could be, of every scenario that was run. A part of the variants tells about a part
/// of what has to fit.
std::string tighter_limits_text(const RunResult& result, const engine::Selection& selection) {
  const bool is_part = !selection.cases.empty() || !selection.filter.empty();
  const char* const of_a_part =
      is_part ? ", by the variants that were selected: others may need more room" : "";
  std::string text;
  for (const ScenarioResult& scenario : result.scenarios) {
    std::string lines;
    for (const engine::TighterLimit& limit : engine::tighter_limits(scenario)) {
      lines += tighter_limit_line(limit);
    }
    if (!lines.empty()) text += fmt::format("  {}\n{}", scenario.file, lines);
  }
  return text.empty() ? fmt::format("every limit is as tight as it can be{}\n", of_a_part)
                      : fmt::format("limits that could be tighter{}\n{}", of_a_part, text);
}

/// Of files that could not be written, one a line; empty: there is none.
std::string write_reports(RunPlan& plan, const engine::RunOutcome& outcome) {
  std::vector<std::string> errors = outcome.errors;
  const std::string of_reports = plan.outputs.try_write(render_run(outcome.result, plan.style));
  if (!of_reports.empty()) errors.push_back(of_reports);
  return fmt::format("{}", fmt::join(errors, "\n"));
}

/// Beside the table: on stderr, and where GitHub looks for it.
void tell_the_rest(const RunPlan& plan, const Environment& environment, const RunResult& result) {
  if (!plan.arguments.style.quiet) warn_unused_faults(result);
  tell_github(result);
  if (result.exit_reason != ExitReason::nothing_selected) return;
  print_error(reports::printable(nothing_selected_text(plan.arguments.run, environment)));
}

}  // namespace

void publish_run(RunPlan& plan, const Environment& environment, const engine::RunOutcome& outcome,
                 RunTable& table) {
  const std::string errors = write_reports(plan, outcome);
  table.on_end(outcome.result);
  if (plan.arguments.tighten) {
    table.print(tighter_limits_text(outcome.result, plan.arguments.run.selection));
  }
  tell_lack(plan.checkpoint.get());
  tell_the_rest(plan, environment, outcome.result);
  if (!errors.empty()) throw UsageError(errors);
  if (!table.error().empty()) throw UsageError(table.error());
}

}  // namespace ohm::cli
