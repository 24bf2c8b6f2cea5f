#include "harness/sweep/command/command_verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <sstream>

#include "allocator_shim/base/format_bytes.h"

namespace ohm::engine {

namespace {

TrialVerdict verdict_of(FaultVerdict verdict, std::string what) {
  TrialVerdict found;
  found.verdict = verdict;
  found.what = std::move(what);
  return found;
}

std::string text_of(const ErrorResult& error) {
  std::string message = error.message.substr(0, error.message.find('\n'));
  if (error.file.empty()) return message;
  return fmt::format("{}:{}: {}", error.file, error.line, message);
}

/// The first line of `expected` that is not in `printed`, after the ones before it; nothing: what
/// is printed more is no matter.
std::optional<std::string> line_left_out(const std::string& printed, const std::string& expected) {
  std::istringstream lines(printed);
  std::istringstream expected_lines(expected);
  for (std::string wanted; std::getline(expected_lines, wanted);) {
    std::string line;
    while (std::getline(lines, line) && line != wanted) {
    }
    if (!lines) return wanted;
  }
  return {};
}

/// Where nothing is declared to be compared, what a program prints is its result: where a part of
/// that is missing the failure may have been swallowed with the work.
std::optional<std::string> missing_output(const CommandOutcome& fault_free,
                                          const CommandOutcome& outcome) {
  if (fault_free.checked || !fault_free.printed || !outcome.printed) return {};
  return line_left_out(*outcome.printed, *fault_free.printed);
}

/// "48 B that load allocated are lost: no pointer leads to them at the end".
std::string left_text(const LeftMemoryResult& left) {
  const std::string bytes = human_bytes(static_cast<std::size_t>(left.bytes));
  const std::string which =
      left.function.empty() ? "" : fmt::format(" that {} allocated", left.function);
  return left.is_lost
             ? fmt::format("{}{} are lost: no pointer leads to them at the end", bytes, which)
             : fmt::format("{}{} are still allocated at the end, and all is freed without faults",
                           bytes, which);
}

/// Of a program that ended with an error that says what went wrong.
TrialVerdict judged_error(const CommandOutcome& outcome) {
  if (outcome.files) return verdict_of(outcome.files->verdict, outcome.files->what);
  // A program that ends at once may leave to the system what it can still reach.
  if (outcome.left_memory.bytes > 0 && outcome.left_memory.is_lost) {
    return verdict_of(FaultVerdict::leak, left_text(outcome.left_memory));
  }
  return verdict_of(FaultVerdict::clean_error, {});
}

/// Of a program that went on to its end.
TrialVerdict judged_recovery(const CommandOutcome& fault_free, const CommandOutcome& outcome) {
  if (fault_free.checked && !outcome.check_error.empty()) {
    return verdict_of(FaultVerdict::corrupt,
                      "the checked value cannot be evaluated: " + outcome.check_error);
  }
  if (fault_free.checked &&
      compared_lines(outcome, fault_free) != compared_lines(fault_free, outcome)) {
    return verdict_of(
        FaultVerdict::recovered_different,
        fmt::format("the checked value is {} instead of {}", checked_beyond(outcome, fault_free),
                    checked_beyond(fault_free, outcome)));
  }
  if (const auto line = missing_output(fault_free, outcome)) {
    return verdict_of(FaultVerdict::recovered_different,
                      fmt::format("it ends well, and does not print \"{}\"; if that is right, "
                                  "--waive recovered_different=REASON, or declare what counts "
                                  "(--check, ohm.sweep.state)",
                                  *line));
  }
  if (outcome.files) return verdict_of(outcome.files->verdict, outcome.files->what);
  if (outcome.left_memory.bytes > 0) {
    return verdict_of(FaultVerdict::leak, left_text(outcome.left_memory));
  }
  if (fault_free.left_bytes >= 0 && outcome.left_bytes > fault_free.left_bytes) {
    const auto more = static_cast<std::size_t>(outcome.left_bytes - fault_free.left_bytes);
    return verdict_of(
        FaultVerdict::leak,
        fmt::format("{} more are allocated at the end than without faults", human_bytes(more)));
  }
  return verdict_of(FaultVerdict::recovered_same, {});
}

TrialVerdict judged(const CommandOutcome& fault_free, const CommandOutcome& outcome) {
  if (outcome.is_circling) {
    return verdict_of(FaultVerdict::hang,
                      fmt::format("its requests failed {} times", outcome.failures));
  }
  if (outcome.is_overdue) return verdict_of(FaultVerdict::hang, "it did not finish");
  if (outcome.signal != 0) {
    return verdict_of(FaultVerdict::crash, fmt::format("it was ended by signal {} ({})",
                                                       outcome.signal, strsignal(outcome.signal)));
  }
  if (outcome.failures == 0) {
    return verdict_of(FaultVerdict::not_reached, "it did not make this request");
  }
  if (outcome.error && outcome.is_foreign) {
    return verdict_of(FaultVerdict::wrong_error, text_of(*outcome.error));
  }
  // A program may say in its own way that memory is short.
  const bool has_failed = outcome.error || outcome.status != fault_free.status;
  if (has_failed) return judged_error(outcome);
  return judged_recovery(fault_free, outcome);
}

}  // namespace

std::vector<std::string> compared_lines(const CommandOutcome& outcome,
                                        const CommandOutcome& other) {
  const auto lacks_check = [](const CommandOutcome& run) {
    const std::vector<std::string>& names = run.not_computed;
    return std::find(names.begin(), names.end(), "--check") != names.end();
  };
  const auto is_computed = [&other](const std::string& line) {
    const std::vector<std::string>& names = other.not_computed;
    return std::none_of(names.begin(), names.end(),
                        [&](const std::string& name) { return line.starts_with(name + " = "); });
  };
  std::vector<std::string> compared;
  // The value of --check is the first line, which has no name.
  bool is_left_out = lacks_check(other) && !lacks_check(outcome);
  std::istringstream lines(outcome.checked.value_or(""));
  for (std::string line; std::getline(lines, line); is_left_out = false) {
    if (!is_left_out && is_computed(line)) compared.push_back(line);
  }
  return compared;
}

std::string checked_beyond(const CommandOutcome& outcome, const CommandOutcome& other) {
  const std::vector<std::string> known = compared_lines(other, outcome);
  std::string beyond;
  for (const std::string& line : compared_lines(outcome, other)) {
    const bool is_known = std::find(known.begin(), known.end(), line) != known.end();
    if (!is_known) beyond += (beyond.empty() ? "" : ", ") + line;
  }
  return beyond.empty() ? "nothing" : beyond;
}

TrialVerdict command_verdict(const CommandOutcome& fault_free, const CommandOutcome& outcome) {
  TrialVerdict found = judged(fault_free, outcome);
  found.benign = !outcome.reached_program;
  found.handled = !outcome.error;
  if (found.verdict == FaultVerdict::recovered_same) {
    found.peak_bytes = outcome.peak_bytes;
    found.repeated_calls = std::max<std::int64_t>(0, outcome.calls - fault_free.calls);
  }
  return found;
}

}  // namespace ohm::engine
