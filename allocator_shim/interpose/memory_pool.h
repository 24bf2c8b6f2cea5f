// Pools of stream-ordered memory (cudaMallocAsync): what programs free stays in its pool, up to a
// threshold that counts when work is waited for. Guarded by the lock of the GPUs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

#include "allocator_shim/device/device_memory.h"

namespace ohm::interpose {

struct MemoryPool {
  int device = 0;
  std::uint64_t release_threshold = 0;
  std::size_t used_bytes = 0;
  std::size_t reserved_bytes = 0;  ///< with what is cached
  std::size_t used_high_bytes = 0;
  std::size_t reserved_high_bytes = 0;
  std::multimap<std::size_t, DeviceAddress> cached;  ///< by bytes

  /// A block of this size that is cached.
  std::optional<DeviceAddress> take(std::size_t bytes) {
    const auto found = cached.find(bytes);
    if (found == cached.end()) return std::nullopt;
    const DeviceAddress address = found->second;
    cached.erase(found);
    return address;
  }
  void note_reserved(std::size_t bytes) {
    reserved_bytes += bytes;
    reserved_high_bytes = std::max(reserved_high_bytes, reserved_bytes);
  }
  void note_used(std::size_t bytes) {
    used_bytes += bytes;
    used_high_bytes = std::max(used_high_bytes, used_bytes);
  }
};

}  // namespace ohm::interpose
