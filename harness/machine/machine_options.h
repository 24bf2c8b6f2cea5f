// The parts of a machine: its GPUs, the faults in force and the seed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/machine/cuda_libraries.h"
#include "harness/scenario/scenario.h"

namespace ohm::engine {

struct MachineOptions {
  GpuSpec gpu;
  std::vector<std::string> fault_plans;  ///< all in force at once
  std::uint64_t seed = 0;                ///< of the generators of all devices
  std::optional<CudaLibraries> cuda;     ///< the GPUs are shares of real cards; nullopt: virtual
};

}  // namespace ohm::engine
