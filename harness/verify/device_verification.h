// The truth check: variants on virtual GPUs and on shares of real cards, event by event and value
// by value.
#pragma once

#include "harness/checkpoint/checkpoint.h"
#include "harness/run/run_options.h"
#include "harness/scenario/scenario_program.h"
#include "reports/model/verification_result.h"

namespace ohm::engine {

/// What the comparison of the variants of `shard` depends on, beside the card: what is known of
/// other cards may be in the same checkpoint.
CheckpointedWork verification_work(const Shard& shard, const RunOptions& run);

struct FinishedVerification {
  VerificationResult result;
  int signal = 0;  ///< that ended it; 0: none

  /// The code of the process.
  int exit_code() const;
};

/// Runs what is selected on both, each variant in a process of its own; of a shard each so many-th
/// variant. `run.cuda` says where the cards are. Throws GpuUnavailable that says what is missing.
FinishedVerification verify_device(const RunOptions& run, const ScenarioLoader& loader);

}  // namespace ohm::engine
