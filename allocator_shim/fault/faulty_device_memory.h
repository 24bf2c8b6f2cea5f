// A device that refuses segments and chunks where a fault plan says so. The caching allocator above
// meets it with its failure ladder, as it would meet a full card.
#pragma once

#include "allocator_shim/device/device_memory_adaptor.h"
#include "allocator_shim/fault/fault_plan.h"

namespace ohm {

class FaultyDeviceMemory final : public DeviceMemoryAdaptor {
 public:
  /// `upstream` and `plan` outlive this; `device` is the index that the plan knows it by.
  FaultyDeviceMemory(DeviceMemory& upstream, FaultPlan& plan, int device)
      : DeviceMemoryAdaptor(upstream), plan_(plan), device_(device) {}

  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override;
  bool map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;

 private:
  bool should_fail(FaultLevel level, std::size_t bytes);

  FaultPlan& plan_;
  int device_;
};

}  // namespace ohm
