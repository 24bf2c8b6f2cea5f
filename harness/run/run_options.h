// The options of a run: which scenarios, on which machine, and what is recorded of them.
#pragma once

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

}  // namespace ohm::engine
