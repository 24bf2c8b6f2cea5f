// The sweep: fails the allocations of scenarios one at a time, and judges the outcome of each.
//
// This process never runs a line of a script. The result depends neither on the number of jobs nor
// on the engine.
#pragma once

#include <cstddef>
#include <vector>

#include "harness/checkpoint/checkpoint.h"
#include "harness/scenario/scenario_program.h"
#include "harness/sweep/sweep_options.h"
#include "reports/model/sweep_result.h"

namespace ohm::engine {

/// Told about a sweep while it goes on.
class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  virtual void on_progress(std::size_t finished, std::size_t total) = 0;
  /// In the order of the files.
  virtual void on_scenario(const SweptScenario& scenario) = 0;
};

struct SweepOutcome {
  SweepResult result;
  int signal = 0;  ///< that ended the sweep; 0: none

  int exit_code() const;
};

/// All that the result depends on, for options.run.checkpoint.
CheckpointedWork checkpointed_work(const SweepOptions& options);

/// What a plan of it depends on: all shards have one in common.
CheckpointedWork planned_work(const SweepOptions& options);

/// Keeps in `known`, which is of the planned work, what the variants do without faults, as far as
/// it is not there yet; once it is whole it stays as it is. What cannot be swept is left out.
/// Returns the signal that ended it; 0: none.
int run_without_faults(const SweepOptions& options, const ScenarioLoader& loader,
                       Checkpoint& known);

/// Whether nothing is left to be found for it: only then do all shards cut the work alike.
bool is_whole_plan(const Checkpoint& plan);

/// What each call that is to fail costs, in seconds, of each variant in the plan
/// `options.fault_free`.
std::vector<std::vector<double>> planned_costs(const SweepOptions& options,
                                               const ScenarioLoader& loader);

SweepOutcome run_sweep(const SweepOptions& options, const ScenarioLoader& loader,
                       SweepObserver& observer);

}  // namespace ohm::engine
