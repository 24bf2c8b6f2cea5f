// The least memory with which a variant passes: a search over capacities, on size-only devices.
#pragma once

#include "harness/run/run_options.h"
#include "reports/model/minimum_result.h"

namespace ohm::engine {

struct MinimumOutcome {
  MinimumResult result;
  int signal = 0;  ///< that ended the search; 0: none

  /// The code of the process.
  int exit_code() const;
};

/// For each selected variant the least capacity, in granules of 2 MiB, at which it ends without an
/// out-of-memory error (a caught one counts), and at which it needs no retry either. Found by
/// bisection: at the capacity found it passes and with one granule less it does not; a program that
/// passes with still less, and not in between, is possible. Runs on `options.jobs` processes; the
/// result does not depend on their number. The timeout is for each search.
MinimumOutcome find_minimum_memory(const RunOptions& options, const ScenarioLoader& loader);

}  // namespace ohm::engine
