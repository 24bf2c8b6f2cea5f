// The options of a sweep: which calls of which variants fail, and how.
#pragma once

#include <vector>

#include "harness/run/run_options.h"
#include "harness/scenario/shard.h"
#include "harness/sweep/call_recorder.h"
#include "harness/sweep/fault_trials.h"
#include "harness/sweep/point_choice.h"
#include "reports/model/sweep_result.h"

namespace ohm::engine {

struct SweepOptions {
  /// Files, selection, jobs, GPUs, caps and seed as of a run; its timeout is that of a whole
  /// variant without faults. Its fault plan has to be empty.
  RunOptions run;
  PointChoice points;
  std::vector<FaultForm> forms = points.forms();
  CallFilter filter;
  TrialsOptions trials;
  Shard shard;  ///< of all faults of each variant
  /// What the variants do without faults, found before by run_without_faults(): then nothing is run
  /// but what is failed, and shards are cut by what it costs. nullptr: every shard finds it.
  const Checkpoint* fault_free = nullptr;
};

}  // namespace ohm::engine
