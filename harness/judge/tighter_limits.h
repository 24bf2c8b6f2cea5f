// The tightest limits that still hold.
#pragma once

#include <string>
#include <vector>

#include "reports/model/run_result.h"

namespace ohm::engine {

struct TighterLimit {
  std::string limit;     ///< as written
  std::string tightest;  ///< "peak_allocated_bytes <= 2120704"; empty: it cannot be told
  std::string variant;   ///< that leaves no more room, or by which it cannot be told
  std::string why_not;   ///< "breaks it", "no variant has to hold it"; empty beside `tightest`
};

/// Of a scenario's limits with an upper or a lower bound, those that are looser than what the
/// variants which have to hold them measure (mitigations, controls and checks), and those of which
/// that cannot be told: by a variant that breaks one or has no figure, of a bound with several
/// terms, or where no variant is there to hold it. In the order in which they first appear.
std::vector<TighterLimit> tighter_limits(const ScenarioResult& scenario);

}  // namespace ohm::engine
