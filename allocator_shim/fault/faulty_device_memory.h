// A device that refuses segments and chunks where a fault plan says so. The caching allocator above
// meets it with its failure ladder, as it would meet a full device.
#pragma once

#include "allocator_shim/device/device_memory_adaptor.h"
#include "allocator_shim/fault/fault_source.h"

namespace ohm {

class FaultyDeviceMemory final : public DeviceMemoryAdaptor {
 public:
  /// `upstream` and `faults` outlive this; `device` is the index that the faults know it by.
  FaultyDeviceMemory(DeviceMemory& upstream, FaultSource& faults, int device)
      : DeviceMemoryAdaptor(upstream), faults_(faults), device_(device) {}

  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override;
  bool map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;

 private:
  bool should_fail(FaultLevel level, std::size_t bytes);

  FaultSource& faults_;
  int device_;
};

}  // namespace ohm
