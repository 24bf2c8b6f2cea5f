// A device that shows and grants less memory than it has.
#pragma once

#include <cstddef>

#include "allocator_shim/device/device_memory.h"

namespace ohm {

class CapacityLimit final : public DeviceMemory {
 public:
  /// `upstream` outlives this. Throws std::invalid_argument when its context alone is larger.
  CapacityLimit(DeviceMemory& upstream, std::size_t capacity_bytes);

  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override;
  void free_segment(DeviceAddress address, std::size_t bytes) override;
  DeviceAddress reserve_range(std::size_t bytes) override;
  void release_range(DeviceAddress address, std::size_t bytes) override;
  bool map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;
  void unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;
  /// Total at most the limit; free at most what the limit leaves beside everything in use.
  DeviceMemoryInfo info() const override;
  std::size_t context_bytes() const override { return upstream_.context_bytes(); }
  std::vector<DeviceProcess> processes() const override { return upstream_.processes(); }
  void* host_pointer(DeviceAddress address) const override {
    return upstream_.host_pointer(address);
  }

 private:
  DeviceMemory& upstream_;
  std::size_t capacity_bytes_;
};

}  // namespace ohm
