// The environment variables that say which virtual GPUs a program sees, and what they refuse.
#pragma once

namespace ohm::interpose {

/// `NAME[,capacity=SIZE][,count=N]`; nothing: kDefaultGpu.
inline constexpr const char* kGpusVariable = "OHM_GPU";
inline constexpr const char* kDefaultGpu = "a100-80g";
/// A fault plan (fault_plan.h) of the calls that ask a GPU for memory; nothing: none fails.
inline constexpr const char* kFaultVariable = "OHM_FAULT";
/// The file of a GpuTable: all processes that have it share the GPUs; nothing: each has its own.
inline constexpr const char* kSharedGpusVariable = "OHM_SHARED_GPU";
/// N: work of a stream is complete N calls later (work_in_flight.h); nothing or 0: at once.
inline constexpr const char* kInFlightVariable = "OHM_IN_FLIGHT";

/// Anything: a communicator of NCCL does not wait for its other ranks, which are not started. They
/// are taken to hold what the one that is there holds.
inline constexpr const char* kAbsentRanksVariable = "OHM_ABSENT_RANKS";

/// Anything: a call of what a virtual GPU does not have is told, and passes for done.
inline constexpr const char* kAllowMissingVariable = "OHM_ALLOW_MISSING";

}  // namespace ohm::interpose
