// Coverage of a sweep: how much of a program is under a handler of out-of-memory errors, and what
// the handler costs.
#pragma once

#include <cstdint>
#include <string>

#include "reports/model/sweep_result.h"

namespace ohm::reports {

struct RecoveryCoverage {
  std::int64_t points = 0;     ///< at which something failed
  std::int64_t recovered = 0;  ///< where the program went on every time
  /// Requests made again by the runs that went on, as a share of what they would have made: the
  /// time lost, as far as it does not depend on the machine.
  double repeated_share = 0;
};

RecoveryCoverage coverage_of(const SweptVariant& variant);

/// A line for each mitigation whose problem was swept as well: points under a handler, peak, and
/// work done again, before and after. Empty when there is no such pair.
std::string sweep_coverage_text(const SweptScenario& scenario);

}  // namespace ohm::reports
