// What a sweep of the faults of CUDA calls learns from the processes of a command: the calls that
// they make, and what a program does after one of them has failed. Plain data, for both sides.
#pragma once

#include <atomic>
#include <cstdint>

namespace ohm::interpose {

/// A folder: each process lists its calls there (call_trace.h).
inline constexpr const char* kCallTraceVariable = "OHM_CALL_TRACE";
/// A file of a FaultTrace, which all processes of the command share. With it a fault plan holds
/// once, for one of them: where processes have ranks, for rank 0.
inline constexpr const char* kFaultTraceVariable = "OHM_FAULT_TRACE";

/// harness/record/ohm_watched.py reads it, too.
struct FaultTrace {
  std::atomic<std::int32_t> process = 0;    ///< in which the call failed; 0: none has failed
  std::atomic<std::int32_t> is_sticky = 0;  ///< all later calls in its context fail
  std::atomic<std::int32_t> shown = 0;      ///< errors that its calls returned, but for cleaning up
  std::atomic<std::int32_t> again = 0;  ///< of these, calls made again (Note [Calls made again])
  std::atomic<std::int32_t> later_work = 0;  ///< of these, other work after the first of them
  std::atomic<std::int32_t> successors = 0;  ///< processes that began to use CUDA after the failure
};
static_assert(std::atomic<std::int32_t>::is_always_lock_free);

}  // namespace ohm::interpose
