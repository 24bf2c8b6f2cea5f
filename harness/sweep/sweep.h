// Fails the allocations of scenarios, one after the other, and says for each what became of it.
//
// This process never runs a line of a script. The result depends neither on the number of jobs nor
// on the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "harness/run/runner.h"
#include "harness/scenario/shard.h"
#include "harness/sweep/fault_trials.h"
#include "reports/model/sweep_result.h"

namespace ohm::engine {

/// Which calls fail: every one, the first one at each point, or some.
struct PointChoice {
  enum class Kind : std::uint8_t { all, unique, sample };
  Kind kind = Kind::unique;
  std::size_t sample = 0;  ///< how many calls of each variant, spread evenly

  std::string text() const;
};

/// "all", "unique" or "sample=N". Throws std::invalid_argument.
PointChoice parse_point_choice(std::string_view text);

struct SweepOptions {
  /// Files, selection, jobs, GPUs, caps and seed as of a run; its timeout is that of a whole
  /// variant without faults. Its fault plan has to be empty.
  RunOptions run;
  PointChoice points;
  std::vector<FaultForm> forms = {FaultForm::transient};
  CallFilter filter;
  TrialsOptions trials;
  Shard shard;  ///< of all faults of each variant
};

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

SweepOutcome run_sweep(const SweepOptions& options, const ScenarioLoader& loader,
                       SweepObserver& observer);

}  // namespace ohm::engine
