#include "harness/sweep/command/fault_verdict.h"

#include <fmt/format.h>

#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "harness/sweep/command/compared_end.h"

namespace ohm::engine {

namespace {

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

std::string steps_text(const ExpectedEnd& expected, int made) {
  return fmt::format("{} of {} optimizer steps", made, expected.optimizer_steps);
}

// ---- restarts -----------------------------------------------------------------------------------

/// See Note [Restarts].
bool resumes_after_kill(const ExpectedEnd& expected, const FaultedEnd& fault) {
  if (fault.restarted_after_kill == nullptr) return false;
  const CommandOutcome& restarted = *fault.restarted_after_kill;
  return restarted.status == 0 && !has_other_values(expected.outcome, restarted) &&
         !missing_line(expected.lines,
                       fault.printed_before_kill + "\n" + restarted.printed.value_or(""));
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
    if (!is_sure && !fault.restarts_after_success) return {};
    return failed_restart(
        restarted, is_sure ? "a restart after this error fails, but a restart after SIGKILL at the "
                             "same call succeeds"
                           : "a restart after this error fails, but a restart after a run without "
                             "faults succeeds");
  }
  if (has_other_values(expected.outcome, restarted)) return lost_values(expected, restarted);
  const int made = fault.optimizer_steps + restarted.fault->optimizer_steps;
  if (made < expected.optimizer_steps) {
    return fault_verdict(
        FaultVerdict::lost_work,
        "it exits with an error; with its restart it has made " + steps_text(expected, made));
  }
  const auto line = missing_line(expected.lines, printed_in_all(outcome, restarted));
  if (!line || !is_sure) return {};
  return fault_verdict(FaultVerdict::lost_work,
                       fmt::format("it exits with an error; after a restart it does not print "
                                   "\"{}\", but after SIGKILL at the same call it does",
                                   *line));
}

// ---- calls --------------------------------------------------------------------------------------

/// It went on without the GPU: all steps were made, and no other call failed between those that
/// followed the failure.
bool does_without(const ExpectedEnd& expected, const FaultedEnd& fault) {
  return expected.optimizer_steps > 0 && fault.optimizer_steps >= expected.optimizer_steps &&
         fault.continues_without_failures;
}

/// Of a program that ended with 0: it went on with its GPU, where everything failed.
bool has_swallowed(const ExpectedEnd& expected, const FaultedEnd& fault) {
  return fault.is_sticky && fault.successors == 0 && fault.later_work + fault.again > 0 &&
         !does_without(expected, fault);
}

TrialVerdict swallowed(const FaultedEnd& fault) {
  return fault_verdict(
      FaultVerdict::swallowed,
      fmt::format("it ends with status 0, though {} calls that it made later failed, too, and no "
                  "other process did their work",
                  fault.later_work + fault.again));
}

/// Of a program that ended with 0: work that nobody did. To leave a batch out where memory does not
/// suffice is no bug, where the program says so.
std::optional<TrialVerdict> missing_steps(const ExpectedEnd& expected,
                                          const CommandOutcome& outcome) {
  const FaultedEnd& fault = *outcome.fault;
  if (fault.optimizer_steps >= expected.optimizer_steps) return {};
  const std::string made = steps_text(expected, fault.optimizer_steps);
  if (fault.successors > 0) {
    return fault_verdict(FaultVerdict::lost_work,
                         "it ends with status 0, and all its processes have made " + made);
  }
  const bool has_handled =
      !fault.is_sticky && !outcome.error && tells_of_error(expected.outcome, outcome);
  if (has_handled) return {};
  return fault_verdict(FaultVerdict::swallowed, "it ends with status 0 after " + made);
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
  if (auto found = missing_steps(expected, outcome)) return *found;
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
  if (is_success && has_swallowed(expected, fault)) return swallowed(fault);
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

}  // namespace ohm::engine
