// Trials of a variant: in each of its runs one call fails, and the outcome is judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "harness/sweep/fault_task.h"
#include "harness/sweep/trial.h"
#include "harness/sweep/trial_process.h"

namespace ohm::engine {

enum class SweepEngine : std::uint8_t {
  fork,  ///< runs in turn, or forks of one run: see Note [In turn], Note [Fork at the fault]
  exec   ///< a process for every fault, which runs from the start
};

struct TrialsOptions {
  SweepEngine engine = SweepEngine::fork;
  int depth = 1;
  TrialLimits limits;
  double seconds_of_a_fork = 5e-4;  ///< what a run in turn may take before it fails; 0: only forks
  /// How much a process may put back to go on after a trial; 0: a fork for each. See Note [Back
  /// instead of a copy].
  std::size_t most_bytes_put_back = std::size_t{8} << 20U;
};

/// Told in the worker process as soon as a task has its verdict.
using KeepVerdict = std::function<void(std::size_t task, const TaskVerdict& verdict)>;

/// In a worker process. `tasks` are in the order of their calls; the verdicts are in theirs.
std::vector<TaskVerdict> run_tasks(const ScenarioLoader& loader, const TrialSetup& setup,
                                   const FaultFreeRun& fault_free,
                                   const std::vector<FaultTask>& tasks,
                                   const TrialsOptions& options, const KeepVerdict& keep = {});

}  // namespace ohm::engine
