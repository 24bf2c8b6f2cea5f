// The tightest limits that still hold.
#pragma once

#include <string>
#include <vector>

#include "reports/model/run_result.h"

namespace ohm::engine {

struct TighterLimit {
  std::string limit;     ///< as written
  std::string tightest;  ///< "peak_allocated_bytes <= 2120704"; empty: no variant has to hold it
  std::string variant;   ///< that leaves no more room
};

/// Of a scenario's limits with an upper or a lower bound, those that are looser than what the
/// variants which have to hold them measure: mitigations, controls and checks. In the order in
/// which they first appear. Limits with several terms, and those that a variant breaks or that
/// could not be told, are left out.
std::vector<TighterLimit> tighter_limits(const ScenarioResult& scenario);

}  // namespace ohm::engine
