// What a launch may ask for.
#pragma once

#include <cstddef>

#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/status.h"

namespace ohm::interpose {

/// dim3.
struct Dimensions {
  unsigned x, y, z;
};

/// The runtime's and the driver's code for a grid or a block that no card takes.
enum class LaunchApi { runtime, driver };

/// Of a launch whose blocks wait for each other, and have to be on the GPU together.
Status check_cooperative(LaunchApi api, const Dimensions& grid, const Dimensions& block,
                         std::size_t shared_bytes);

/// As of the calling thread's GPU.
Status check_launch(LaunchApi api, const Dimensions& grid, const Dimensions& block,
                    std::size_t shared_bytes);

}  // namespace ohm::interpose
