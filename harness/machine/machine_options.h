// The parts of a machine: its GPUs, the faults in force and the seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator_shim/device/address_space.h"
#include "allocator_shim/device/gpu_profile.h"
#include "harness/machine/cuda_libraries.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/scenario_program.h"

namespace ohm::engine {

struct MachineOptions {
  GpuSpec gpu;
  std::optional<GpuProfile> profile;     ///< instead of the one that `gpu` names
  std::vector<std::string> fault_plans;  ///< all in force at once
  std::uint64_t seed = 0;                ///< of the generators of all devices
  std::optional<CudaLibraries> cuda;     ///< the GPUs are shares of real cards; nullopt: virtual
  /// Of the segments of virtual GPUs.
  AddressOrder address_order = AddressOrder::lowest_gap;
  /// Of the host's memory, for the values of the host and of virtual GPUs.
  std::size_t value_bytes = ScriptCaps().value_bytes;

  /// Of the GPUs, before `gpu` sets a capacity. Throws std::invalid_argument for a name that is not
  /// known.
  const GpuProfile& gpu_profile() const {
    return profile ? *profile : find_gpu_profile(gpu.profile);
  }
};

/// Whether machines that have no GPUs yet are the same: a program can begin on one of them and end
/// on the other.
inline bool is_same_without_gpus(const MachineOptions& a, const MachineOptions& b) {
  return a.cuda.has_value() == b.cuda.has_value() && a.gpu.values == b.gpu.values &&
         a.fault_plans == b.fault_plans && a.seed == b.seed && a.value_bytes == b.value_bytes;
}

}  // namespace ohm::engine
