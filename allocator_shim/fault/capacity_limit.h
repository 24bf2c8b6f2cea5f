// A device that shows and grants less memory than it has.
#pragma once

#include <cstddef>

#include "allocator_shim/device/device_memory_adaptor.h"

namespace ohm {

class CapacityLimit final : public DeviceMemoryAdaptor {
 public:
  /// `upstream` outlives this. Throws std::invalid_argument when its context alone is larger.
  CapacityLimit(DeviceMemory& upstream, std::size_t capacity_bytes);

  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override;
  bool map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;
  /// Total at most the limit; free at most what the limit leaves beside everything in use.
  DeviceMemoryInfo info() const override;

 private:
  std::size_t capacity_bytes_;
};

}  // namespace ohm
