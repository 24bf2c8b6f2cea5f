// The gate of recorded programs: limits, and a baseline, on what their processes allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/gate/recorded_baseline.h"
#include "harness/judge/limit.h"
#include "reports/history/snapshot_result.h"

namespace ohm::engine {

/// What stands beside the events of a recording.
enum class RecordedCounters : std::uint8_t {
  absent,
  present,
  host,  ///< of the host's memory, and there are no events: it is not about GPUs
};

class RecordedGate {
 public:
  /// `limits` as scenarios write them. Throws BaselineError, PickleError, reports::ResultError;
  /// std::invalid_argument for a limit that a recording cannot answer, and as RecordedBaseline
  /// does.
  RecordedGate(const std::vector<std::string>& limits, RecordedCounters counters,
               const RecordedBaselineOptions& baseline);

  /// The result's variant becomes failed where a limit does not hold or cannot be told, or a figure
  /// is above the baseline's; an error where what a limit is about was not recorded, or where
  /// figures depend on values that no kernel computed and that is not allowed. `is_only`:
  /// there are no other processes, so that a single baseline is meant for this one.
  void judge(reports::RecordedRun& recorded, bool is_only) const;

 private:
  void judge_limits(const reports::RecordedRun& recorded, VariantResult& variant) const;

  std::vector<Limit> limits_;
  RecordedBaseline baseline_;
};

}  // namespace ohm::engine
