// A sweep of a short body in this process, over and over on one machine: no copies, no isolation.
//
// For bodies of a few dozen requests that leave nothing behind: a function of a test, or of a
// script. What crashes ends this process, and what hangs hangs it, up to kFailuresOfAHang failures.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "harness/machine/machine.h"
#include "reports/model/sweep_result.h"

namespace ohm::engine {

struct BodySweepResult {
  std::int64_t calls = 0;  ///< that the fault-free body makes, of GPU memory
  std::int64_t faults = 0;
  std::array<std::int64_t, kFaultVerdicts.size()> verdicts = {};  ///< indexed by FaultVerdict
  std::int64_t first_bad_call = 0;                                ///< from 1; 0: all are good
  FaultVerdict first_bad = FaultVerdict::clean_error;
  std::string what;  ///< about the first bad one
};

/// What a body computed: equal numbers are equal results.
using BodyResult = std::uint64_t;

/// Fails every request of `body`, one after the other: once, or that and all after it. The body
/// runs on `machine`, whose context is installed. Before a failure nothing of the body's may be
/// alive. Throws std::invalid_argument when the body fails without any fault.
BodySweepResult sweep_body(Machine& machine, FaultForm form,
                           const std::function<BodyResult()>& body);

}  // namespace ohm::engine
