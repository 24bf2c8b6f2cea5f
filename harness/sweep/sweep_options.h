// The options of a sweep: which calls of which variants fail, and how.
#pragma once

#include "harness/run/run_options.h"
#include "harness/sweep/call_recorder.h"
#include "harness/sweep/fault_trials.h"
#include "harness/sweep/sweep_rules.h"

namespace ohm::engine {

struct SweepOptions : SweepRules {
  /// Files, selection, jobs, GPUs, caps and seed as of a run; its timeout is that of a whole
  /// variant without faults. Its fault plan has to be empty.
  RunOptions run;
  CallFilter filter;
  TrialsOptions trials;
  /// What the variants do without faults, found before by run_without_faults(): then nothing is run
  /// but what is failed, and shards are cut by what it costs. nullptr: every shard finds it.
  const Checkpoint* fault_free = nullptr;
};

}  // namespace ohm::engine
