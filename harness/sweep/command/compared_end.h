// How the end of a run with a fault differs from the end of one without, and the verdicts that the
// faults of calls and of ranks share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/sweep/command/failing_memory.h"
#include "harness/sweep/trial.h"

namespace ohm::engine {

/// How a run has to end.
struct ExpectedEnd {
  const CommandOutcome& outcome;   ///< without faults
  std::vector<std::string> lines;  ///< that every run without faults prints
  int optimizer_steps = 0;         ///< that every run without faults makes; 0: not known
};

inline constexpr const char* kDeclare =
    "if that is right, declare what counts (--check, ohm.sweep.state), or --waive it";

TrialVerdict fault_verdict(FaultVerdict verdict, std::string what = {});

// ---- lines --------------------------------------------------------------------------------------

std::vector<std::string> printed_lines(const std::string& text);
/// A line with other figures: "loss 0.5" for "loss 0.4".
std::string without_figures(const std::string& line);
/// It tells a time or a rate, which is another one in each run: "done in 0.4 s".
bool is_measured(const std::string& line);
/// The lines of the first that the second one has, too.
std::vector<std::string> lines_in_both(const std::string& printed, const std::string& again);
/// The first of the lines that is not printed.
std::optional<std::string> missing_line(const std::vector<std::string>& expected,
                                        const std::string& printed);
std::string printed_in_all(const CommandOutcome& first, const CommandOutcome& restarted);
/// Whether the program itself has told of an error, to either stream, which a run without faults
/// does not tell of. What Python prints of a thread that an exception has ended does not count.
bool tells_of_error(const CommandOutcome& fault_free, const CommandOutcome& outcome);

// ---- values and restarts ------------------------------------------------------------------------

bool has_other_values(const CommandOutcome& fault_free, const CommandOutcome& outcome);
std::string other_values(const CommandOutcome& fault_free, const CommandOutcome& outcome);
std::string error_text(const ErrorResult& error);
TrialVerdict failed_restart(const CommandOutcome& restarted, const std::string& contrast);
TrialVerdict lost_values(const ExpectedEnd& expected, const CommandOutcome& restarted);

}  // namespace ohm::engine
