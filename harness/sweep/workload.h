// A workload: a program whose requests for memory can be counted, and made to fail one at a time.
//
// There are a variant of a scenario (variant_workload.h), and a command
// (command/command_workload.h) by what fails: PyTorch's memory, the host's, calls of CUDA, or
// ranks. Which requests fail, the shares of shards, what is kept for a sweep that goes on, which
// verdicts have to be confirmed, and the result are the same for all of them (workload_sweep.h).
//
// A workload may do its work at once, before count() and fail() return, or in processes whose ends
// are told later: it tells what came of it by calling back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/scenario/scenario.h"
#include "harness/sweep/counted_run.h"
#include "harness/sweep/fault_task.h"
#include "reports/model/exit_code.h"
#include "reports/model/sweep_result.h"

namespace ohm::engine {

/// Why a workload cannot be swept, and what that means for the process.
struct WorkloadError {
  ErrorResult error;
  ExitReason reason = ExitReason::script_error;
};

/// A run without faults, or why there is nothing to compare failures with.
struct CountEnd {
  std::shared_ptr<CountedRun> run;  ///< the workload's own struct; null with an error
  std::optional<WorkloadError> error;
};

/// Whether a fault is tried beside others, in a copy of the program say, or in a run of its own.
enum class Company : std::uint8_t { others, none };

/// Faults that are tried together, in the order of their calls.
struct FaultBatch {
  std::vector<FaultTask> tasks;
  std::size_t all = 0;  ///< with those that are known from before
  Company company = Company::others;
  /// Called in the process that finds a verdict, as soon as it does: nothing is lost with it.
  std::function<void(std::size_t task, const TaskVerdict& verdict)> keep;
  /// Called in this process for each task, in any order.
  std::function<void(std::size_t task, TaskVerdict verdict)> on_verdict;
  /// Called at once where the rest cannot be told; others may still be at work.
  std::function<void(WorkloadError error)> on_error;
  /// Called once nothing is at work, unless this program is asked to end.
  std::function<void()> on_end;
};

class Workload {
 public:
  using OnCount = std::function<void(CountEnd end)>;

  virtual ~Workload() = default;

  /// Runs it without faults.
  virtual void count(OnCount on_end) = 0;
  /// What two such runs do otherwise than each other; empty: nothing. A failure of "the seventh
  /// request" means nothing then.
  virtual std::string difference(const CountedRun& a, const CountedRun& b) const = 0;
  /// Takes over from a second run without a difference what only two of them tell.
  virtual void join(CountedRun& /*counted*/, const CountedRun& /*again*/) const {}
  /// Tries each of the faults. Pre-condition: nothing is at work, and `counted` outlives it.
  virtual void fail(const CountedRun& counted, FaultBatch batch) = 0;

  /// Where several processes share files in fail(): "in a copy of the command"; empty: they do not.
  /// A bad verdict among others has to be that of a run of its own, too.
  virtual std::string sharing() const { return {}; }
  /// Whether a run may change what later ones ask for: it writes files that they read.
  virtual bool changes_later_runs() const { return false; }

  /// The failure of a request as `--fault` takes it; `occurrence`: of its point.
  virtual std::string plan_of(const CountedRun& counted, const FaultTask& task,
                              std::uint64_t occurrence) const = 0;
  /// The command line of `ohm` that repeats it; an empty plan: without faults.
  virtual std::string rerun_command(const std::string& plan) const = 0;
  virtual const std::vector<Waiver>& waivers() const = 0;
  /// Name, role and the like.
  virtual void describe(SweptVariant& swept) const = 0;

  /// As which a checkpoint knows it.
  virtual std::string piece() const = 0;
  /// The run as a plan for all shards keeps it: for workloads of which plans are made.
  virtual std::string encoded_run(const CountedRun& /*run*/) const { return {}; }
  virtual std::shared_ptr<CountedRun> decoded_run(std::string_view /*bytes*/) const {
    return nullptr;
  }
};

}  // namespace ohm::engine
