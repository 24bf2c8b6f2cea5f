// How a call of CUDA fails: `-> error(KIND)` behind the chain of a plan that says which does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ohm {

enum class FaultError : std::uint8_t {
  memory,
  illegal_address,
  launch_failure,
  launch_timeout,
  ecc_uncorrectable,
  device_lost,
  not_ready,
  remote_error,
  system_error,
  hang,
  slow,
  killed,
};

struct FaultErrorRow {
  FaultError error;
  std::string_view name;
  std::string_view help;  ///< one line
  bool is_sticky;         ///< every later call in the context fails, too
};

/// Indexed by FaultError.
inline constexpr std::array<FaultErrorRow, 12> kFaultErrors = {{
    {FaultError::memory, "memory", "out of memory, or the library's allocation failure", false},
    {FaultError::illegal_address, "illegal_address", "a kernel accessed an invalid address", true},
    {FaultError::launch_failure, "launch_failure", "a kernel failed for another reason", true},
    {FaultError::launch_timeout, "launch_timeout", "a kernel ran for too long", true},
    {FaultError::ecc_uncorrectable, "ecc_uncorrectable", "an uncorrectable memory error", true},
    {FaultError::device_lost, "device_lost", "the GPU fell off the bus; NVML says so, too", true},
    {FaultError::not_ready, "not_ready", "work is not complete", false},
    {FaultError::remote_error, "remote_error", "NCCL: another rank failed", false},
    {FaultError::system_error, "system_error", "NCCL: a call of the system failed", false},
    {FaultError::hang, "hang", "the call never returns", false},
    {FaultError::slow, "slow", "the call takes a second longer, and succeeds", false},
    {FaultError::killed, "killed", "the process is killed at the call", false},
}};

constexpr const FaultErrorRow& row_of(FaultError error) {
  return kFaultErrors[static_cast<std::size_t>(error)];
}

}  // namespace ohm
