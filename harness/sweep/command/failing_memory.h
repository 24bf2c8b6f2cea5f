// Memory of a command that can be made to fail: what numbers its requests, fails one of them, and
// tells how the command ended. One implementation for each kind of memory; the choice of faults,
// their verdicts and the report are the same for all (command_sweep.h).
//
// Numbers count from 0 over one process of the command, in the order in which it makes requests,
// and mean the same request in every run of a command that makes the same requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/sweep/call_recorder.h"
#include "harness/sweep/fault_task.h"
#include "reports/model/error_result.h"
#include "reports/model/sweep_result.h"

namespace ohm::engine {

/// How a run of the command ended, as far as it tells.
struct CommandOutcome {
  int status = 0;                    ///< its exit status, or 128 + the signal's number
  int signal = 0;                    ///< that ended it; 0: none
  bool is_overdue = false;           ///< it was ended, because it took too long
  bool is_circling = false;          ///< it was ended, because one request failed again and again
  std::int64_t failures = 0;         ///< that were injected
  bool reached_program = true;       ///< false: the allocator survived them by itself
  std::optional<ErrorResult> error;  ///< that no part of the program handled, or its last words
  bool is_out_of_memory = false;     ///< that error, or what it was raised from
  bool is_foreign = false;  ///< that error is known to be none of memory, as "KeyError: 'x'" is
  std::optional<std::string> checked;  ///< what --check came to
  std::string check_error;             ///< why it came to nothing
  std::int64_t left_bytes = -1;  ///< that it holds at its end, by its allocator; -1: not known
  std::int64_t peak_bytes = 0;
  std::int64_t calls = 0;  ///< requests that it made in all
};

/// A run in which nothing failed.
struct CountedCommand {
  std::string program;      ///< a name for it
  std::string description;  ///< "PyTorch 2.6.0"
  RecordedCalls calls;
  std::vector<SweepPoint> points;     ///< in the order in which they are first passed
  std::vector<std::uint64_t> hashes;  ///< of the points
  CommandOutcome outcome;
  std::string last_line;  ///< of its output
  /// Why its requests cannot be numbered: nothing was asked for, several processes asked.
  std::string problem;
  std::string hint;  ///< what to do about that
  double seconds = 0;
};

class FailingMemory {
 public:
  /// In any order: the index of the task, and how the command ended.
  using OnEnd = std::function<void(std::size_t task, const CommandOutcome& outcome)>;

  virtual ~FailingMemory() = default;

  /// Runs the command without faults. Throws std::invalid_argument for one that cannot be started,
  /// CommandInterrupted when this program is asked to end.
  virtual CountedCommand count() = 0;
  /// Fails each of these calls of `counted`. Throws as count() does.
  virtual void fail(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                    const OnEnd& on_end) = 0;

  /// The failure as `ohm exec --fault` takes it.
  virtual std::string plan_of(const FaultTask& task) const = 0;
  /// The command line of `ohm` that repeats it; an empty plan: without faults.
  virtual std::string rerun_command(const std::string& plan) const = 0;
};

}  // namespace ohm::engine
