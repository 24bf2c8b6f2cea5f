#include "harness/sweep/command/compared_end.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

#include "harness/exec/child_command.h"
#include "harness/sweep/command/command_verdict.h"

namespace ohm::engine {

TrialVerdict fault_verdict(FaultVerdict verdict, std::string what) {
  TrialVerdict found;
  found.verdict = verdict;
  found.what = std::move(what);
  return found;
}

// ---- lines --------------------------------------------------------------------------------------

std::vector<std::string> printed_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string without_figures(const std::string& line) {
  static const std::regex kFigure(R"([-+]?\d+(\.\d+)?([eE][-+]?\d+)?)");
  return std::regex_replace(line, kFigure, "#");
}

bool is_measured(const std::string& line) {
  static const std::regex kTime(
      R"(\d ?((m|u|µ|n)?s|secs?|seconds?|min|mins|minutes?|h|hours?)\b|\w/ ?s(ec|econd)?\b|\d:\d\d|)"
      R"(\bper second\b|\btook\b|\b(elapsed|duration|throughput|speed|eta|seconds)\b|time\b)",
      std::regex::icase);
  return std::regex_search(line, kTime);
}

namespace {

std::string compared_text(const std::string& line) {
  return is_measured(line) ? without_figures(line) : line;
}

}  // namespace

std::optional<std::string> missing_line(const std::vector<std::string>& expected,
                                        const std::string& printed) {
  std::set<std::string> all;
  for (const std::string& line : printed_lines(printed)) all.insert(compared_text(line));
  for (const std::string& line : expected) {
    if (!all.contains(compared_text(line))) return line;
  }
  return {};
}

std::vector<std::string> lines_in_both(const std::string& printed, const std::string& again) {
  const std::vector<std::string> others = printed_lines(again);
  const std::set<std::string> all(others.begin(), others.end());
  std::vector<std::string> both;
  for (const std::string& line : printed_lines(printed)) {
    if (all.contains(line)) both.push_back(line);
  }
  return both;
}

std::string printed_in_all(const CommandOutcome& first, const CommandOutcome& restarted) {
  return first.printed.value_or("") + "\n" + restarted.printed.value_or("");
}

namespace {

/// Of both streams.
std::vector<std::string> all_lines(const CommandOutcome& outcome) {
  return printed_lines(outcome.printed.value_or("") + "\n" + outcome.fault->errors);
}

}  // namespace

bool tells_of_error(const CommandOutcome& fault_free, const CommandOutcome& outcome) {
  static const std::regex kError(R"(error|fail|exception|memory|\boom\b|cuda|nccl|gpu|skip)",
                                 std::regex::icase);
  if (outcome.fault->errors.find("Exception in thread") != std::string::npos) return false;
  std::set<std::string> usual;
  for (const std::string& line : all_lines(fault_free)) usual.insert(without_figures(line));
  const std::vector<std::string> lines = all_lines(outcome);
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return !line.starts_with("ohm: ") && std::regex_search(line, kError) &&
           !usual.contains(without_figures(line));
  });
}

// ---- values and restarts ------------------------------------------------------------------------

bool has_other_values(const CommandOutcome& fault_free, const CommandOutcome& outcome) {
  return fault_free.checked &&
         compared_lines(outcome, fault_free) != compared_lines(fault_free, outcome);
}

std::string other_values(const CommandOutcome& fault_free, const CommandOutcome& outcome) {
  return fmt::format("{} instead of {}", checked_beyond(outcome, fault_free),
                     checked_beyond(fault_free, outcome));
}

std::string error_text(const ErrorResult& error) {
  std::string message = error.message.substr(0, error.message.find('\n'));
  if (error.file.empty()) return message;
  return fmt::format("{}:{}: {}", error.file, error.line, message);
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

}  // namespace ohm::engine
