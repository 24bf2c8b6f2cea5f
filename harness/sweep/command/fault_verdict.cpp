#include "harness/sweep/command/fault_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <numeric>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "harness/exec/child_command.h"
#include "harness/sweep/command/command_verdict.h"

namespace ohm::engine {

namespace {

constexpr const char* kDeclare =
    "if that is right, declare what counts (--check, ohm.sweep.state), or --waive it";

TrialVerdict fault_verdict(FaultVerdict verdict, std::string what = {}) {
  TrialVerdict found;
  found.verdict = verdict;
  found.what = std::move(what);
  return found;
}

std::vector<std::string> printed_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// A line with other figures: "loss 0.5" for "loss 0.4".
std::string without_figures(const std::string& line) {
  static const std::regex kFigure(R"([-+]?\d+(\.\d+)?([eE][-+]?\d+)?)");
  return std::regex_replace(line, kFigure, "#");
}

/// It tells a time or a rate, which is another one in each run: "done in 0.4 s".
bool is_measured(const std::string& line) {
  static const std::regex kTime(
      R"(\d ?((m|u|µ|n)?s|secs?|seconds?|min|mins|minutes?|h|hours?)\b|\w/ ?s(ec|econd)?\b|\d:\d\d|)"
      R"(\bper second\b|\btook\b|\b(elapsed|duration|throughput|speed|eta|seconds)\b|time\b)",
      std::regex::icase);
  return std::regex_search(line, kTime);
}

std::string compared_text(const std::string& line) {
  return is_measured(line) ? without_figures(line) : line;
}

/// The first of the lines that is not printed.
std::optional<std::string> missing_line(const std::vector<std::string>& expected,
                                        const std::string& printed) {
  std::set<std::string> all;
  for (const std::string& line : printed_lines(printed)) all.insert(compared_text(line));
  for (const std::string& line : expected) {
    if (!all.contains(compared_text(line))) return line;
  }
  return {};
}

bool has_other_values(const CommandOutcome& fault_free, const CommandOutcome& outcome) {
  return fault_free.checked &&
         compared_lines(outcome, fault_free) != compared_lines(fault_free, outcome);
}

std::string other_values(const CommandOutcome& fault_free, const CommandOutcome& outcome) {
  return fmt::format("{} instead of {}", checked_beyond(outcome, fault_free),
                     checked_beyond(fault_free, outcome));
}

/// A shell passes signals of its program on as a status.
int signal_of(const CommandOutcome& outcome) {
  if (outcome.signal != 0) return outcome.signal;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    if (outcome.status == 128 + signal) return signal;
  }
  return 0;
}

/// A program that aborts has reported what it aborts for, as C++ does with exceptions.
bool is_crash(const CommandOutcome& outcome) {
  const int signal = signal_of(outcome);
  return signal != 0 && (signal != SIGABRT || outcome.fault->cause.empty());
}

TrialVerdict crashed(const CommandOutcome& outcome) {
  const int signal = signal_of(outcome);
  return fault_verdict(FaultVerdict::crash,
                       fmt::format("it was ended by signal {} ({})", signal, strsignal(signal)));
}

std::string error_text(const ErrorResult& error) {
  std::string message = error.message.substr(0, error.message.find('\n'));
  if (error.file.empty()) return message;
  return fmt::format("{}:{}: {}", error.file, error.line, message);
}

// ---- restarts -----------------------------------------------------------------------------------

std::string printed_in_all(const CommandOutcome& first, const CommandOutcome& restarted) {
  return first.printed.value_or("") + "\n" + restarted.printed.value_or("");
}

/// See Note [Restarts].
bool resumes_after_kill(const ExpectedEnd& expected, const FaultedEnd& fault) {
  if (fault.restarted_after_kill == nullptr) return false;
  const CommandOutcome& restarted = *fault.restarted_after_kill;
  return restarted.status == 0 && !has_other_values(expected.outcome, restarted) &&
         !missing_line(expected.lines,
                       fault.printed_before_kill + "\n" + restarted.printed.value_or(""));
}

TrialVerdict failed_restart(const CommandOutcome& restarted, const std::string& contrast) {
  if (restarted.is_overdue) {
    return fault_verdict(FaultVerdict::hang,
                         "it exits with an error; after a restart it does not finish");
  }
  return fault_verdict(
      FaultVerdict::corrupt,
      contrast + ": " + exit_status_text(restarted.status, restarted.fault->cause));
}

TrialVerdict lost_values(const ExpectedEnd& expected, const CommandOutcome& restarted) {
  return fault_verdict(FaultVerdict::lost_work,
                       "it exits with an error; after a restart its values are " +
                           other_values(expected.outcome, restarted));
}

/// Of a program that gave up; nothing: its restart ends as a run without faults, or it cannot be
/// told.
std::optional<TrialVerdict> restart_verdict(const ExpectedEnd& expected,
                                            const CommandOutcome& outcome) {
  const FaultedEnd& fault = *outcome.fault;
  if (fault.restarted == nullptr) return {};
  const CommandOutcome& restarted = *fault.restarted;
  const bool is_sure = resumes_after_kill(expected, fault);
  if (restarted.is_overdue || restarted.status != 0) {
    if (!is_sure) return {};
    return failed_restart(restarted,
                          "a restart after this error fails, but a restart after SIGKILL at the "
                          "same call succeeds");
  }
  if (has_other_values(expected.outcome, restarted)) return lost_values(expected, restarted);
  const auto line = missing_line(expected.lines, printed_in_all(outcome, restarted));
  if (!line || !is_sure) return {};
  return fault_verdict(FaultVerdict::lost_work,
                       fmt::format("it exits with an error; after a restart it does not print "
                                   "\"{}\", but after SIGKILL at the same call it does",
                                   *line));
}

// ---- calls --------------------------------------------------------------------------------------

/// Of a program that ended with 0: it went on with its GPU, where everything failed.
bool has_swallowed(const FaultedEnd& fault) {
  return fault.is_sticky && fault.successors == 0 && fault.later_work + fault.again > 0;
}

TrialVerdict swallowed(const FaultedEnd& fault) {
  return fault_verdict(
      FaultVerdict::swallowed,
      fmt::format("it ends with status 0, though {} calls that it made later failed, too, and no "
                  "other process did their work",
                  fault.later_work + fault.again));
}

/// Of a program that ended with 0.
TrialVerdict judged_success(const ExpectedEnd& expected, const CommandOutcome& outcome) {
  const FaultedEnd& fault = *outcome.fault;
  const bool is_alone = fault.shown > 0 && fault.successors == 0;
  if (has_other_values(expected.outcome, outcome)) {
    return fault_verdict(
        is_alone && fault.is_sticky ? FaultVerdict::swallowed : FaultVerdict::recovered_different,
        "it ends with status 0, and its values are " + other_values(expected.outcome, outcome));
  }
  // Where values are declared, what is printed decides nothing.
  const auto line = missing_line(expected.lines, outcome.printed.value_or(""));
  if (line && !expected.outcome.checked) {
    return fault_verdict(
        is_alone ? FaultVerdict::swallowed : FaultVerdict::recovered_different,
        fmt::format("it ends with status 0, and does not print \"{}\"; {}", *line, kDeclare));
  }
  TrialVerdict found = fault_verdict(FaultVerdict::recovered_same);
  found.benign = fault.shown == 0;
  return found;
}

TrialVerdict judged_call(const ExpectedEnd& expected, const CommandOutcome& outcome) {
  const FaultedEnd& fault = *outcome.fault;
  if (fault.process == 0) {
    return fault_verdict(FaultVerdict::not_reached, "it did not make this call");
  }
  if (outcome.is_overdue) return fault_verdict(FaultVerdict::hang, "it did not finish");
  if (is_crash(outcome)) return crashed(outcome);
  const bool is_success = outcome.status == expected.outcome.status;
  if (is_success && has_swallowed(fault)) return swallowed(fault);
  if (fault.is_sticky && fault.again > 0) {
    return fault_verdict(
        FaultVerdict::retried,
        fmt::format("it made the failed call again {} time{}: the CUDA context is lost; only a new "
                    "process can recover",
                    fault.again, fault.again == 1 ? "" : "s"));
  }
  if (is_success) return judged_success(expected, outcome);
  if (outcome.error && outcome.is_foreign) {
    return fault_verdict(FaultVerdict::wrong_error, error_text(*outcome.error));
  }
  return restart_verdict(expected, outcome).value_or(fault_verdict(FaultVerdict::clean_error));
}

}  // namespace

std::vector<std::string> lines_in_both(const std::string& printed, const std::string& again) {
  const std::vector<std::string> others = printed_lines(again);
  const std::set<std::string> all(others.begin(), others.end());
  std::vector<std::string> both;
  for (const std::string& line : printed_lines(printed)) {
    if (all.contains(line)) both.push_back(line);
  }
  return both;
}

bool needs_kill(const ExpectedEnd& expected, const CommandOutcome& outcome) {
  const CommandOutcome& restarted = *outcome.fault->restarted;
  return restarted.is_overdue || restarted.status != 0 ||
         missing_line(expected.lines, printed_in_all(outcome, restarted)).has_value();
}

TrialVerdict call_fault_verdict(const ExpectedEnd& expected, const CommandOutcome& outcome) {
  TrialVerdict found = judged_call(expected, outcome);
  found.handled = !outcome.error;
  return found;
}

// ---- ranks --------------------------------------------------------------------------------------

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
