// Files in, a result out: loads the scenarios, runs their variants in worker processes, judges.
//
// This process never runs a line of a script. The result does not depend on the number of jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/device/gpu_profile.h"
#include "harness/machine/cuda_run.h"
#include "harness/scenario/scenario_program.h"
#include "harness/scenario/selection.h"
#include "harness/scenario/shard.h"
#include "harness/scenario/snapshot_paths.h"
#include "reports/model/recording.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

class LiveBoard;

struct RunOptions {
  std::vector<std::string> files;
  Selection selection;
  int jobs = 1;
  double timeout_seconds = 60;  ///< for each variant
  std::uint64_t seed = 0;
  std::optional<GpuSelection> gpu;        ///< instead of the scenarios' own
  std::optional<CudaRun> cuda;            ///< on real cards
  std::string gpu_text;                   ///< `gpu` as it was written, for the command that repeats
  std::optional<std::string> alloc_conf;  ///< allocator settings, instead of the scenarios' own
  std::string environment_alloc_conf;     ///< where neither a scenario nor `alloc_conf` gives any
  std::string rules;  ///< which PyTorch's allocator, instead of the scenarios' own; empty: theirs
  bool size_only = false;      ///< no values on any device, whatever the scenarios say
  ParameterValues parameters;  ///< instead of what the scenarios give theirs
  std::string fault;           ///< a fault plan for every variant; empty: none
  Shard shard;                 ///< which of the files
  bool fail_fast = false;      ///< the first scenario that does not pass is the last one
  bool timestamps = false;     ///< wall times become part of the result
  Recording recording = Recording::figures;
  /// Baselines beside the scenarios are compared: not for runs on other GPUs, with other settings,
  /// faults or seeds.
  bool checks_baselines = false;
  bool requires_baselines = false;  ///< a variant without one fails, as does one of another machine
  SnapshotPaths snapshots;          ///< of what is selected; empty: none
  /// What runs is shown there, and progress is told ten times a second; nullptr: nobody watches.
  LiveBoard* live_board = nullptr;
  ScriptCaps caps;
};

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

/// A file's validated description, or why there is none; in the order of the files.
struct ListedScenario {
  ScenarioDescription description;
  std::optional<ErrorResult> error;
  ExitReason error_reason = ExitReason::passed;
};

/// What run_scenarios() would run. `selection` and the GPUs are not looked at.
std::vector<ListedScenario> list_scenarios(const RunOptions& options, const ScenarioLoader& loader);

}  // namespace ohm::engine
