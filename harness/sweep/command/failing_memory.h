// Memory of a command that can be made to fail: what numbers its requests, fails one of them, and
// tells how the command ended. One implementation for each kind of memory, and for the faults of
// CUDA calls and ranks, whose "requests" are the faults that there are to inject.
//
// Numbers count from 0 over one process of the command, in the order in which it makes requests,
// and mean the same request in every run of a command that makes the same requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/sweep/counted_run.h"
#include "harness/sweep/fault_task.h"
#include "harness/sweep/trial.h"
#include "reports/model/error_result.h"
#include "reports/model/sweep_result.h"

namespace ohm::engine {

/// What a run left of the files that the command writes.
struct FileDamage {
  FaultVerdict verdict = FaultVerdict::corrupt;
  std::string what;  ///< a sentence
};

/// Memory that a run left when it ended, beyond the run without faults.
struct LeftMemoryResult {
  std::int64_t bytes = 0;  ///< 0: none
  bool is_lost = false;    ///< no pointer leads to it
  std::string function;    ///< that allocated most of it; empty: what ran after the failure
};

/// A line of the program that was on the stack.
struct StackLine {
  std::string file;
  int line = 0;
  std::string function;
};

struct CommandOutcome;

/// How a command ended in which a call of CUDA failed, or a rank was lost, beside its outcome.
struct FaultedEnd {
  std::string cause;     ///< its last words (failure_cause.h)
  std::string errors;    ///< that it wrote to its standard error
  int process = 0;       ///< in which the call failed; 0: none
  bool is_lost = false;  ///< the rank
  // See allocator_shim/interpose/fault_trace.h:
  bool is_sticky = false;
  int shown = 0;
  int again = 0;
  int later_work = 0;
  int successors = 0;
  std::string step_kind;    ///< "step" of an optimizer, or "collective"
  std::vector<int> steps;   ///< that were completed, for each time that the job was started
  int ranks = 0;            ///< that made steps
  int optimizer_steps = 0;  ///< of all processes and threads
  /// Steps followed the failure, and no other call failed between them.
  bool continues_without_failures = false;
  int failed_restarts = 0;  ///< processes that an error left after a restart of the job
  /// The command, started again in its folder after it had failed; null: it was not.
  std::shared_ptr<const CommandOutcome> restarted;
  /// The same after it was killed at the call instead; null: not tried.
  std::shared_ptr<const CommandOutcome> restarted_after_kill;
  std::string printed_before_kill;  ///< by that run
  /// The command can be started again in the folder that a run without faults has left. Known where
  /// both restarts fail.
  bool restarts_after_success = false;
};

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
  /// What is compared, a line for each value: what --check came to, what the program has named.
  std::optional<std::string> checked;
  std::string check_error;  ///< why it came to nothing
  /// Names of values that are left out of `checked`: no kernel computed them. "--check": its value.
  std::vector<std::string> not_computed;
  /// Its standard output, where what it prints is none of the values that are compared.
  std::optional<std::string> printed;
  std::int64_t left_bytes = -1;  ///< that it holds at its end, by its allocator; -1: not known
  std::int64_t peak_bytes = 0;
  /// Allocated when the failed request was made again, beyond what was when it failed.
  std::int64_t more_when_again = 0;
  std::int64_t calls = 0;  ///< requests that it made in all
  std::optional<FileDamage> files;
  LeftMemoryResult left_memory;
  /// Of a script, where the request failed, the innermost first; empty: none of its lines was.
  std::vector<StackLine> script_lines;
  /// Python's own functions for temporary files were at work there, for the script.
  bool is_in_temporary_files = false;
  /// The interpreter whose own request it was, by its name; empty: a program's, or of a module.
  std::string interpreter;
  std::optional<FaultedEnd> fault;  ///< of a call of CUDA, or of a rank
};

/// A run of a command in which nothing failed.
struct CountedCommand : CountedRun {
  std::string program;      ///< a name for it
  std::string description;  ///< "PyTorch 2.6.0"
  CommandOutcome outcome;
  std::string cause;  ///< why it failed, by its output (failure_cause.h)
  /// The first host beyond this machine that it asked for, by name or address; empty: none.
  std::string network_host;
  /// Those that it writes, and that are put back for each run: "out.txt and 2 more"; empty: none is
  /// known.
  std::string written_files;
  /// Why its requests cannot be numbered: nothing was asked for, several processes asked.
  std::string problem;
  std::string hint;  ///< what to do about that
  /// Runs of it change files that they share: they are not to be at work side by side.
  bool shares_changed_files = false;
};

/// Faults that had to have a run of their own though copies were asked for.
struct Uncopied {
  std::size_t faults = 0;
  std::string why;  ///< the first of them had to; empty: none had to
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

  /// Where several processes of the command share its files in fail(): "in a copy of the command",
  /// "beside other runs of the command"; empty: they do not.
  virtual std::string sharing() const = 0;
  /// Whether a run may find files that another has changed.
  virtual bool changes_later_runs() const { return true; }
  /// Of the last fail().
  virtual Uncopied uncopied() const = 0;
  /// The same, each in a run that shares no files with another at its time.
  virtual void fail_alone(const CountedCommand& counted, const std::vector<FaultTask>& tasks,
                          const OnEnd& on_end) = 0;

  /// The verdict on a run with a fault.
  virtual TrialVerdict verdict(const CountedCommand& counted, const CommandOutcome& outcome) const;

  /// The failure as `ohm exec --fault` takes it.
  virtual std::string plan_of(const FaultTask& task) const = 0;
  /// The command line of `ohm` that repeats it; an empty plan: without faults.
  virtual std::string rerun_command(const std::string& plan) const = 0;
};

}  // namespace ohm::engine
