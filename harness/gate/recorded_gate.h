// The gate of recorded programs: limits, and a baseline, on what their processes allocated.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/gate/baseline.h"
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
  /// `limits` as scenarios write them. `baseline`: a .baseline, a snapshot, or a result; empty:
  /// none. Figures may be above the baseline's by so many percent: real devices are not exact.
  /// Throws BaselineError, PickleError, reports::ResultError; std::invalid_argument for a limit
  /// that a recording cannot answer.
  RecordedGate(const std::vector<std::string>& limits, RecordedCounters counters,
               std::string baseline, double tolerance_percent);

  /// The result's variant becomes failed where a limit does not hold or cannot be told, or a figure
  /// is above the baseline's; an error where what a limit is about was not recorded. `is_only`:
  /// there are no other processes, so that a single baseline is meant for this one.
  void judge(reports::RecordedRun& recorded, bool is_only) const;

 private:
  void judge_limits(const reports::RecordedRun& recorded, VariantResult& variant) const;
  void judge_baseline(ScenarioResult& scenario, bool is_only) const;
  const Baseline* baseline_of(const std::string& scenario, bool is_only) const;

  std::vector<Limit> limits_;
  std::string baseline_path_;
  /// By the name of the scenario, that is of the process; a file of another format has one without.
  std::map<std::string, Baseline> baselines_;
  double tolerance_percent_;
};

}  // namespace ohm::engine
