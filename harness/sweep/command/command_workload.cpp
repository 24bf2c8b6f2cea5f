#include "harness/sweep/command/command_workload.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "harness/exec/child_command.h"
#include "harness/process/current_folder.h"
#include "harness/sweep/command/command_verdict.h"
#include "harness/sweep/command/recovery_notes.h"
#include "reports/text/result_text.h"

namespace ohm::engine {

namespace {

std::string request_text(const CountedRun& counted, std::size_t call) {
  const SweepPoint& point = counted.point_of(call);
  return fmt::format("of {} bytes for {}, {}", counted.calls.bytes[call], point.op,
                     reports::place_text(point.file, point.line));
}

/// Empty: the program, or the script, is to blame. No line of a script can make up for an
/// interpreter that crashes, for what it does before and after the script, nor for a temporary file
/// that it was just making or removing.
std::string interpreter_of(FaultVerdict verdict, const CommandOutcome& outcome) {
  const bool is_its_own = verdict == FaultVerdict::crash || outcome.script_lines.empty() ||
                          (verdict == FaultVerdict::leak && outcome.is_in_temporary_files);
  return is_its_own ? outcome.interpreter : "";
}

/// What may be the reason for which a command fails without faults.
std::string hint_for_failing(const CountedCommand& counted) {
  if (counted.cause.find("EOFError") != std::string::npos) {
    return "it reads its standard input, which is empty in a sweep";
  }
  if (counted.network_host.empty()) return {};
  return fmt::format("it opens a network connection to {}", counted.network_host);
}

WorkloadError unsound(std::string message, std::string hint, ExitReason reason) {
  return {ErrorResult{std::move(message), {}, 0, {}, std::move(hint)}, reason};
}

/// What a reader needs of what a program wrote.
std::string end_of(const std::string& text) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 10U;
  return text.size() <= kMostBytes ? text : text.substr(text.size() - kMostBytes);
}

}  // namespace

TrialVerdict FailingMemory::verdict(const CountedCommand& counted,
                                    const CommandOutcome& outcome) const {
  return command_verdict(counted.outcome, outcome);
}

CommandWorkload::CommandWorkload(const CommandWorkloadOptions& options, FailingMemory& memory)
    : options_(options), memory_(memory), changes_(current_folder(), options.own_files) {}

void CommandWorkload::describe(SweptVariant& swept) const {
  swept.name = description_.empty() ? "command" : description_;
  swept.role = Role::control;
  swept.values = is_checked_;
}

// ---- without faults -----------------------------------------------------------------------------

void CommandWorkload::count(OnCount on_end) {
  auto counted = std::make_shared<CountedCommand>(memory_.count());
  counted->peak_bytes = counted->outcome.peak_bytes;
  std::optional<WorkloadError> error = error_of(*counted);
  if (!std::exchange(is_counted_, true)) take_first(*counted, !error);
  counted->shares_changed_files = shares_changed_files_ || !counted->written_files.empty();
  if (error) return on_end({nullptr, std::move(error)});
  on_end({std::move(counted), std::nullopt});
}

void CommandWorkload::take_first(const CountedCommand& counted, bool is_sound) {
  program_ = counted.program;
  description_ = counted.description;
  is_checked_ = counted.outcome.checked.has_value();
  if (!is_sound) return;
  note_network(counted);
  note_what_changed(counted);
  note_not_computed(counted.outcome);
}

/// Why it does not end so well that there is something to compare failures with.
std::optional<WorkloadError> CommandWorkload::error_of(const CountedCommand& counted) const {
  const CommandOutcome& outcome = counted.outcome;
  if (outcome.is_overdue) {
    return unsound("the command without faults took longer than --timeout", {},
                   ExitReason::timeout);
  }
  if (outcome.status != 0) {
    return unsound(
        "the command fails without faults: " + exit_status_text(outcome.status, counted.cause),
        hint_for_failing(counted), ExitReason::script_error);
  }
  if (!counted.problem.empty()) {
    return unsound(counted.problem, counted.hint, ExitReason::script_error);
  }
  if (options_.check.empty() || outcome.checked || !outcome.not_computed.empty()) return {};
  return unsound(fmt::format("--check: {}", outcome.check_error.empty() ? "it was not evaluated"
                                                                        : outcome.check_error),
                 "it is an expression of Python, evaluated in the script's module at its end",
                 ExitReason::script_error);
}

std::string CommandWorkload::difference(const CountedRun& a, const CountedRun& b) const {
  const std::size_t call = first_difference(a.calls, b.calls);
  if (call < a.calls.size() && call < b.calls.size()) {
    return fmt::format("request {} is one {} and one {}", call + 1, request_text(a, call),
                       request_text(b, call));
  }
  if (a.calls.size() != b.calls.size()) {
    return fmt::format(
        "one makes {} requests, the other {}: the first that only one of them makes "
        "is one {}",
        a.calls.size(), b.calls.size(), request_text(call < a.calls.size() ? a : b, call));
  }
  const CommandOutcome& one = static_cast<const CountedCommand&>(a).outcome;
  const CommandOutcome& other = static_cast<const CountedCommand&>(b).outcome;
  if (compared_lines(one, other) == compared_lines(other, one)) return {};
  return fmt::format("the checked value is {} and {}", checked_beyond(one, other),
                     checked_beyond(other, one));
}

/// What it prints is its own in each run, as the time is.
void CommandWorkload::join(CountedRun& counted, const CountedRun& again) const {
  std::optional<std::string>& printed = static_cast<CountedCommand&>(counted).outcome.printed;
  if (printed != static_cast<const CountedCommand&>(again).outcome.printed) printed.reset();
  counted.seconds = std::max(counted.seconds, again.seconds);
}

// ---- with faults --------------------------------------------------------------------------------

void CommandWorkload::fail(const CountedRun& counted, FaultBatch batch) {
  const auto& command = static_cast<const CountedCommand&>(counted);
  const auto on_end = [&](std::size_t task, const CommandOutcome& outcome) {
    TaskVerdict verdict = judged(command, batch.tasks[task], outcome);
    if (batch.keep) batch.keep(task, verdict);
    batch.on_verdict(task, std::move(verdict));
  };
  if (batch.company == Company::none) {
    memory_.fail_alone(command, batch.tasks, on_end);
  } else {
    memory_.fail(command, batch.tasks, on_end);
    note_uncopied(batch.all);
  }
  batch.on_end();
}

TaskVerdict CommandWorkload::judged(const CountedCommand& counted, const FaultTask& task,
                                    const CommandOutcome& outcome) {
  TaskVerdict found;
  found.verdict = memory_.verdict(counted, outcome);
  if (found.verdict.verdict == FaultVerdict::recovered_same) {
    note_not_computed(outcome);
    found.notes = recovery_notes(task, memory_.plan_of(task), outcome, counted.outcome);
  }
  if (!is_good(found.verdict.verdict)) {
    take_place(outcome, found.verdict);
    if (outcome.fault) found.verdict.errors = end_of(outcome.fault->errors);
  }
  return found;
}

void CommandWorkload::take_place(const CommandOutcome& outcome, TrialVerdict& found) {
  found.interpreter = interpreter_of(found.verdict, outcome);
  if (outcome.script_lines.empty()) return;
  const StackLine& innermost = outcome.script_lines.front();
  found.file = innermost.file;
  found.line = innermost.line;
  const std::vector<StackLine>& lines = outcome.script_lines;
  std::for_each(lines.rbegin(), lines.rend(), [&](const StackLine& line) {
    found.stack.push_back(fmt::format("{}:{} in {}", line.file, line.line, line.function));
  });
}

// ---- notes --------------------------------------------------------------------------------------

void CommandWorkload::note_uncopied(std::size_t faults) const {
  const Uncopied uncopied = memory_.uncopied();
  if (uncopied.faults == 0) return;
  options_.on_note(fmt::format("{} of {} faults needed their own run instead of a copy: {}",
                               uncopied.faults, faults, uncopied.why));
}

void CommandWorkload::note_network(const CountedCommand& counted) const {
  if (counted.network_host.empty()) return;
  options_.on_note(
      fmt::format("the command opens a network connection (to {}), and so does each run with a "
                  "fault: the reply may decide how it ends",
                  counted.network_host));
}

/// Each name once.
void CommandWorkload::note_not_computed(const CommandOutcome& outcome) {
  std::vector<std::string> names;
  for (const std::string& name : outcome.not_computed) {
    if (not_compared_.insert(name).second) names.push_back(name);
  }
  if (names.empty()) return;
  options_.on_note(fmt::format(
      "no kernel computed {}, which {} not compared: with --values cpu all values are computed",
      fmt::join(names, ", "), names.size() == 1 ? "is" : "are"));
}

void CommandWorkload::note_what_changed(const CountedCommand& counted) {
  if (!counted.written_files.empty()) {
    return options_.on_note(fmt::format(
        "the command writes {}: after each run with a fault, files are restored to their state "
        "after a fault-free run",
        counted.written_files));
  }
  const std::vector<std::string> left = changes_.since();
  if (left.empty() || options_.in_scratch) return;
  shares_changed_files_ = true;
  options_.on_note(fmt::format(
      "files changed in this folder while the command ran ({}{}): if it writes them, so does "
      "each run with a fault; for GPU memory, --scratch gives each of them a copy of this folder",
      left.front(), left.size() == 1 ? "" : fmt::format(" and {} more", left.size() - 1)));
}

}  // namespace ohm::engine
