#include "harness/fit/smallest_gpu.h"

#include "allocator_shim/device/gpu_profile.h"

namespace ohm::engine {

void name_smallest_gpu(std::int64_t bytes, FitRow& row) {
  for (const GpuProfile& profile : gpu_profiles()) {
    // GPUs for teaching and recording cannot be bought.
    if (profile.context_bytes == 0) continue;
    const auto capacity = static_cast<std::int64_t>(profile.capacity_bytes);
    const bool is_enough = capacity - static_cast<std::int64_t>(profile.context_bytes) >= bytes;
    const bool is_smaller = row.smallest_profile.empty() || capacity < row.smallest_profile_bytes;
    if (!is_enough || !is_smaller) continue;
    row.smallest_profile = profile.name;
    row.smallest_profile_bytes = capacity;
  }
}

}  // namespace ohm::engine
