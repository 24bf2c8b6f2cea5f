// A call that a sweep makes fail, and the verdict on the trial in which it did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "harness/sweep/trial.h"
#include "reports/model/sweep_result.h"

namespace ohm::engine {

/// A call of the fault-free run that is to fail.
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
  std::vector<RecoveryNote> notes;   ///< of a recovery: what is true of it, each counted once
  double seconds_before = 0;         ///< from the start of a run in turn to its failure
};

}  // namespace ohm::engine
