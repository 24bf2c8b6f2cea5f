// Fails calls of a variant, one in each of its runs, and judges what became of it.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/sweep/trial.h"
#include "harness/sweep/trial_process.h"

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
  double seconds_before = 0;         ///< from the start of a run in turn to its failure
};

enum class SweepEngine : std::uint8_t {
  fork,  ///< runs in turn, or forks of one run: see Note [In turn], Note [Fork at the fault]
  exec   ///< a process for every fault, which runs from the start
};

struct TrialsOptions {
  SweepEngine engine = SweepEngine::fork;
  int depth = 1;
  TrialLimits limits;
  double seconds_of_a_fork = 5e-4;  ///< what a run in turn may take before it fails; 0: only forks
};

/// In a worker process. `tasks` are in the order of their calls; the verdicts are in theirs.
std::vector<TaskVerdict> run_tasks(const ScenarioLoader& loader, const TrialSetup& setup,
                                   const UndisturbedRun& undisturbed,
                                   const std::vector<FaultTask>& tasks,
                                   const TrialsOptions& options);

}  // namespace ohm::engine
