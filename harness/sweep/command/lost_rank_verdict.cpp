#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <regex>
#include <set>
#include <utility>

#include "harness/sweep/command/compared_end.h"
#include "harness/sweep/command/fault_verdict.h"

namespace ohm::engine {

namespace {

bool has_fractions(const std::string& line) {
  static const std::regex kFraction(R"(\d\.\d|\d[eE][-+]?\d)");
  return std::regex_search(line, kFraction);
}

/// A result that is printed with other figures. Whole numbers may count what this start of the
/// job did, and lines without a twin may be of a start alone.
std::optional<std::pair<std::string, std::string>> other_figures(const ExpectedEnd& expected,
                                                                 const std::string& printed) {
  const std::vector<std::string> lines = printed_lines(printed);
  const std::set<std::string> all(lines.begin(), lines.end());
  for (const std::string& line : expected.lines) {
    if (all.contains(line) || !has_fractions(line) || is_measured(line)) continue;
    const std::string form = without_figures(line);
    const auto twin = std::find_if(lines.rbegin(), lines.rend(), [&](const std::string& other) {
      return without_figures(other) == form;
    });
    if (twin != lines.rend()) return std::pair(line, *twin);
  }
  return {};
}

std::optional<TrialVerdict> judged_figures(const ExpectedEnd& expected,
                                           const std::string& printed) {
  const auto other = other_figures(expected, printed);
  if (!other) return {};
  return fault_verdict(FaultVerdict::recovered_different,
                       fmt::format("the job prints \"{}\" instead of \"{}\"; {}", other->second,
                                   other->first, kDeclare));
}

int sum_of(const std::vector<int>& steps) { return std::accumulate(steps.begin(), steps.end(), 0); }

std::string steps_text(int count, const std::string& kind) {
  return fmt::format("{} {}{}", count, kind, count == 1 ? "" : "s");
}

TrialVerdict lost_steps(int before, int made, const std::string& kind) {
  return fault_verdict(FaultVerdict::lost_work,
                       fmt::format("the job lost {}: it made {} of {}",
                                   steps_text(before - made, kind), made, before));
}

/// Of a job that ended with 0.
TrialVerdict judged_job(const ExpectedEnd& expected, const CommandOutcome& outcome) {
  const FaultedEnd& fault = *outcome.fault;
  const int before = sum_of(expected.outcome.fault->steps);
  const int made = sum_of(fault.steps);
  if (has_other_values(expected.outcome, outcome)) {
    return fault_verdict(FaultVerdict::recovered_different,
                         "the job ends with " + other_values(expected.outcome, outcome));
  }
  if (made < before) return lost_steps(before, made, fault.step_kind);
  if (!expected.outcome.checked) {
    if (auto found = judged_figures(expected, *outcome.printed)) return *found;
  }
  TrialVerdict found = fault_verdict(FaultVerdict::recovered_same);
  found.repeated_calls = made - before;
  return found;
}

/// The first line that is printed nowhere, nor with other figures. Ranks print at the same time:
/// what one of them prints may be within a line of another.
std::optional<std::string> line_without_twin(const ExpectedEnd& expected,
                                             const std::string& printed) {
  std::set<std::string> forms;
  for (const std::string& line : printed_lines(printed)) forms.insert(without_figures(line));
  for (const std::string& line : expected.lines) {
    if (printed.find(line) == std::string::npos && !forms.contains(without_figures(line))) {
      return line;
    }
  }
  return {};
}

/// Of what a job and its restart printed; nothing: it is what is printed without faults.
std::optional<TrialVerdict> judged_lines(const ExpectedEnd& expected, const std::string& printed) {
  if (auto found = judged_figures(expected, printed)) return found;
  const auto line = line_without_twin(expected, printed);
  if (!line) return {};
  return fault_verdict(
      FaultVerdict::lost_work,
      fmt::format("after a restart the job does not print \"{}\"; {}", *line, kDeclare));
}

/// Of a job that ended because it lost a rank, and was started again. The rank was killed, so there
/// is no other restart to compare with. Lines that have a twin with other figures may be of one
/// start alone ("3 steps in this run").
std::optional<TrialVerdict> job_restart_verdict(const ExpectedEnd& expected,
                                                const CommandOutcome& outcome) {
  const FaultedEnd& fault = *outcome.fault;
  if (fault.restarted == nullptr) return {};
  const CommandOutcome& restarted = *fault.restarted;
  if (restarted.is_overdue || restarted.status != 0) {
    return failed_restart(restarted, "a restart after the rank was lost fails");
  }
  if (has_other_values(expected.outcome, restarted)) return lost_values(expected, restarted);
  const int before = sum_of(expected.outcome.fault->steps);
  const int made = sum_of(fault.steps) + sum_of(restarted.fault->steps);
  if (made < before) return lost_steps(before, made, fault.step_kind);
  if (expected.outcome.checked) return {};
  return judged_lines(expected, printed_in_all(outcome, restarted));
}

TrialVerdict judged_rank(const ExpectedEnd& expected, const CommandOutcome& outcome) {
  const FaultedEnd& fault = *outcome.fault;
  if (!fault.is_lost) {
    return fault_verdict(FaultVerdict::not_reached, "the rank did not reach this step");
  }
  if (outcome.is_overdue) {
    return fault_verdict(FaultVerdict::hang, "the job did not finish after it had lost the rank");
  }
  if (outcome.status == expected.outcome.status) return judged_job(expected, outcome);
  if (fault.failed_restarts > 0) {
    return fault_verdict(FaultVerdict::corrupt,
                         fmt::format("the job was restarted, and failed: {}",
                                     outcome.error ? error_text(*outcome.error) : fault.cause));
  }
  return job_restart_verdict(expected, outcome).value_or(fault_verdict(FaultVerdict::clean_error));
}

}  // namespace

TrialVerdict lost_rank_verdict(const ExpectedEnd& expected, const CommandOutcome& outcome) {
  TrialVerdict found = judged_rank(expected, outcome);
  found.handled = found.verdict == FaultVerdict::recovered_same;
  return found;
}

}  // namespace ohm::engine
