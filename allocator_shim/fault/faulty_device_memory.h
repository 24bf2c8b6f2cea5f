// A device that refuses segments and chunks where a fault plan says so. The caching allocator above
// meets it with its failure ladder, as it would meet a full card.
#pragma once

#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/fault/fault_plan.h"

namespace ohm {

class FaultyDeviceMemory final : public DeviceMemory {
 public:
  /// `upstream` and `plan` outlive this; `device` is the index that the plan knows it by.
  FaultyDeviceMemory(DeviceMemory& upstream, FaultPlan& plan, int device)
      : upstream_(upstream), plan_(plan), device_(device) {}

  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override;
  void free_segment(DeviceAddress address, std::size_t bytes) override;
  DeviceAddress reserve_range(std::size_t bytes) override;
  void release_range(DeviceAddress address, std::size_t bytes) override;
  bool map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;
  void unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;
  DeviceMemoryInfo info() const override { return upstream_.info(); }
  std::size_t context_bytes() const override { return upstream_.context_bytes(); }
  std::vector<DeviceProcess> processes() const override { return upstream_.processes(); }
  void* host_pointer(DeviceAddress address) const override {
    return upstream_.host_pointer(address);
  }

 private:
  bool should_fail(FaultLevel level, std::size_t bytes);

  DeviceMemory& upstream_;
  FaultPlan& plan_;
  int device_;
};

}  // namespace ohm
