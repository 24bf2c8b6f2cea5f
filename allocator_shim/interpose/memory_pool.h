// Pools of stream-ordered memory (cudaMallocAsync): what programs free stays in its pool, up to a
// threshold that counts when work is waited for. Guarded by the lock of the GPUs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/segmented_memory.h"

namespace ohm::interpose {

struct MemoryPool {
  int device = 0;
  bool is_destroyed = false;  ///< by the program, and gone with the last block
  std::uint64_t release_threshold = 0;
  std::size_t most_bytes = 0;       ///< of segments; 0: what the GPU has
  int handle_types = 0;             ///< that other processes may get it by
  std::uint64_t other_devices = 0;  ///< that were given access, by number
  /// How freed memory is used again, which work that is complete at once never waits for.
  std::array<int, 3> reuse_switches = {1, 1, 1};
  SegmentedMemory memory;
  std::size_t used_bytes = 0;
  std::size_t used_high_bytes = 0;
  std::size_t reserved_high_bytes = 0;

  /// With what is cached.
  std::size_t reserved_bytes() const { return memory.bytes(); }
  void add_segment(DeviceAddress address, std::size_t bytes) {
    memory.add_segment(address, bytes);
    reserved_high_bytes = std::max(reserved_high_bytes, reserved_bytes());
  }
  void note_used(std::size_t bytes) {
    used_bytes += bytes;
    used_high_bytes = std::max(used_high_bytes, used_bytes);
  }
};

/// The beginning of cudaMemPoolProps.
struct PoolProperties {
  int allocation_type, handle_types, location_type, device;
  void* security;
  std::size_t most_bytes;
};
/// cudaMemAccessDesc.
struct PoolAccess {
  int location_type, device, flags;
};
/// cudaMemLocation.
struct PoolLocation {
  int type, device;
};

}  // namespace ohm::interpose
