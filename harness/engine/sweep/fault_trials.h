// Fails calls of a variant, each in a process of its own, and judges what became of it.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/engine/sweep/trial.h"
#include "harness/engine/sweep/trial_process.h"

namespace ohm::engine {

/// A call of the undisturbed run that is to fail.
struct FaultTask {
  std::size_t call = 0;  ///< its index
  FaultForm form = FaultForm::transient;
};

/// A second failure, while the first was handled.
struct ChainVerdict {
  std::uint64_t point = 0;       ///< that failed second
  std::uint64_t occurrence = 0;  ///< of the point, after the first failure
  TrialVerdict verdict;
};

struct TaskVerdict {
  TrialVerdict verdict;
  std::vector<ChainVerdict> chains;  ///< with a depth of 2: each point passed after the failure
};

enum class SweepEngine : std::uint8_t {
  fork,  ///< one run, forked at every fault: see Note [Fork at the fault]
  exec   ///< a run from the start for every fault
};

struct TrialsOptions {
  SweepEngine engine = SweepEngine::fork;
  int depth = 1;
  TrialLimits limits;
};

/// In a worker process. `tasks` are in the order of their calls; the verdicts are in theirs.
std::vector<TaskVerdict> run_tasks(const ScenarioLoader& loader, const TrialSetup& setup,
                                   const UndisturbedRun& undisturbed,
                                   const std::vector<FaultTask>& tasks,
                                   const TrialsOptions& options);

}  // namespace ohm::engine
