// Which requests of a workload fail, and how: the same for every kind of workload.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "harness/scenario/shard.h"
#include "harness/sweep/point_choice.h"
#include "reports/model/exit_code.h"
#include "reports/model/sweep_result.h"

namespace ohm::engine {

struct SweepRules {
  PointChoice points;
  std::vector<FaultForm> forms = points.forms();
  Shard shard;  ///< of all faults of each workload
};

/// A result without scenarios: it says what failed.
SweepResult result_without_scenarios(const SweepRules& rules, FaultLevel level);

/// The same, by names, for what is kept of such a sweep.
std::map<std::string, std::string> settings_of(const SweepRules& rules, FaultLevel level);

/// What the verdicts on a workload mean for the process.
ExitReason exit_reason_of(const SweptVariant& variant);

}  // namespace ohm::engine
