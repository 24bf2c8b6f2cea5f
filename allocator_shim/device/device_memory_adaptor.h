// A device that passes everything on to another one: adaptors override what they change.
#pragma once

#include "allocator_shim/device/device_memory.h"

namespace ohm {

class DeviceMemoryAdaptor : public DeviceMemory {
 public:
  /// `upstream` outlives this.
  explicit DeviceMemoryAdaptor(DeviceMemory& upstream) : upstream_(upstream) {}

  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override {
    return upstream_.allocate_segment(bytes);
  }
  void free_segment(DeviceAddress address, std::size_t bytes) override {
    upstream_.free_segment(address, bytes);
  }
  DeviceAddress reserve_range(std::size_t bytes) override { return upstream_.reserve_range(bytes); }
  void release_range(DeviceAddress address, std::size_t bytes) override {
    upstream_.release_range(address, bytes);
  }
  bool map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override {
    return upstream_.map(address, bytes, chunk_bytes);
  }
  void unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override {
    upstream_.unmap(address, bytes, chunk_bytes);
  }
  DeviceMemoryInfo info() const override { return upstream_.info(); }
  std::size_t context_bytes() const override { return upstream_.context_bytes(); }
  std::vector<DeviceProcess> processes() const override { return upstream_.processes(); }
  void* host_pointer(DeviceAddress address) const override {
    return upstream_.host_pointer(address);
  }

 protected:
  DeviceMemory& upstream() { return upstream_; }
  const DeviceMemory& upstream() const { return upstream_; }

 private:
  DeviceMemory& upstream_;
};

}  // namespace ohm
