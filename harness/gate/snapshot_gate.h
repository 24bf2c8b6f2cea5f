// Limits and baselines on a recorded snapshot: what ohm run does for scenarios, for jobs of others.
#pragma once

#include <string>
#include <vector>

#include "harness/gate/recorded_baseline.h"
#include "reports/model/run_result.h"

namespace ohm::engine {

struct SnapshotGate {
  std::string file;
  std::vector<std::string> limits;  ///< as scenarios write them
  /// Without measures the peaks and out-of-memory errors fail.
  RecordedBaselineOptions baseline;
};

/// The snapshot as a result whose variant is judged: failed where a limit does not hold or cannot
/// be told, or a figure is above the baseline's. Throws PickleError, BaselineError,
/// reports::ResultError; std::invalid_argument for a limit that a snapshot cannot answer.
RunResult judge_snapshot(const SnapshotGate& gate);

}  // namespace ohm::engine
