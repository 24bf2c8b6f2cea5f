// A part of a device that stands for a whole one: of a capacity and a context of its own, whatever
// else the device holds.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "allocator_shim/device/device_memory_adaptor.h"
#include "allocator_shim/device/virtual_gpu.h"

namespace ohm {

/// Grants what a virtual GPU would grant, from the memory of a device; refuses, besides, what the
/// device has no room for. Addresses are the device's; free memory, context and processes are the
/// virtual GPU's, and so are values, where it keeps any: in the host's memory.
class DeviceShare final : public DeviceMemoryAdaptor {
 public:
  /// `device` and `share` outlive this. `share` is used through this alone.
  DeviceShare(DeviceMemory& device, VirtualGpu& share)
      : DeviceMemoryAdaptor(device), share_(share) {}

  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override;
  void free_segment(DeviceAddress address, std::size_t bytes) override;
  DeviceAddress reserve_range(std::size_t bytes) override;
  void release_range(DeviceAddress address, std::size_t bytes) override;
  bool map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;
  void unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;

  /// Free is at most what the device has free.
  DeviceMemoryInfo info() const override;
  std::size_t context_bytes() const override { return share_.context_bytes(); }
  std::vector<DeviceProcess> processes() const override { return share_.processes(); }
  void* host_pointer(DeviceAddress address) const override {
    return share_.host_pointer(in_share(address));
  }

 private:
  DeviceAddress in_share(DeviceAddress address) const;
  DeviceAddress forget(DeviceAddress address);

  VirtualGpu& share_;
  std::map<DeviceAddress, DeviceAddress>
      in_share_;  ///< segments and ranges: the device's, the share's
};

}  // namespace ohm
