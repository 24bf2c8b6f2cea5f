// The test of whether a run's requests show that the work which failed was done again.
#pragma once

#include "harness/sweep/call_recorder.h"

namespace ohm::engine {

// Both after the run: `recorder` has seen at least one failure.

/// Whether the requests after the last failure end as those of the fault-free run do from the
/// failed request on: the work was done again, and what followed is the same.
bool goes_on_as(const CallRecorder& recorder, const RecordedCalls& fault_free);

/// Whether fewer requests of a kind that failed succeeded than without failures.
bool is_work_missing(const CallRecorder& recorder, const RecordedCalls& fault_free);

}  // namespace ohm::engine
