// Files in, a result out: loads the scenarios, runs their variants in worker processes, judges.
//
// This process never runs a line of a script. The result does not depend on the number of jobs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "harness/run/listed_scenario.h"
#include "harness/run/run_options.h"
#include "harness/scenario/scenario_program.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

/// Told about a run while it goes on.
class RunObserver {
 public:
  virtual ~RunObserver() = default;

  /// A worker has ended, or it is time to look at the live board; `total` grows as scenarios are
  /// loaded.
  virtual void on_progress(std::size_t finished, std::size_t total) = 0;
  /// In the order of the files.
  virtual void on_scenario(const ScenarioResult& scenario) = 0;
};

struct RunOutcome {
  RunResult result;
  int signal = 0;                   ///< that ended the run; 0: none
  std::vector<std::string> errors;  ///< files that were asked for and could not be written

  /// The code of the process.
  int exit_code() const;
};

/// A scenario in which nothing is selected is not part of the result.
RunOutcome run_scenarios(const RunOptions& options, const ScenarioLoader& loader,
                         RunObserver& observer);

/// What run_scenarios() would run. `selection` and the GPUs are not looked at.
std::vector<ListedScenario> list_scenarios(const RunOptions& options, const ScenarioLoader& loader);

}  // namespace ohm::engine
