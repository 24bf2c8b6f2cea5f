// An adaptor that tracks what a device grants, and the other capacities that would have given the
// same answers.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

#include "allocator_shim/device/device_memory_adaptor.h"

namespace ohm {

/// Of a device whose answers depend on its capacity only, and on nothing that others hold there.
class CapacityTracker final : public DeviceMemoryAdaptor {
 public:
  /// `held_bytes`: what is held of the device already.
  explicit CapacityTracker(DeviceMemory& upstream, std::size_t held_bytes = 0)
      : DeviceMemoryAdaptor(upstream), held_bytes_(held_bytes), same_from_(held_bytes) {}

  std::size_t held_bytes() const { return held_bytes_; }
  /// Times that the device had no room.
  std::size_t refusals() const { return refusals_; }
  /// A device of any capacity from this one up to the actual one would have answered the same.
  std::size_t same_from_bytes() const { return same_from_; }
  /// From here on.
  void forget_answers() { same_from_ = held_bytes_; }

  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override;
  void free_segment(DeviceAddress address, std::size_t bytes) override;
  DeviceAddress reserve_range(std::size_t bytes) override;
  void release_range(DeviceAddress address, std::size_t bytes) override;
  bool map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;
  void unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;

 private:
  void note(bool is_granted, std::size_t bytes);

  std::size_t held_bytes_;
  std::size_t same_from_;
  std::size_t refusals_ = 0;
  std::map<DeviceAddress, std::size_t> ranges_;  ///< reserved
};

}  // namespace ohm
