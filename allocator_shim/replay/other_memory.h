// A device of another size than the recorded one, that begins with what the recorded one held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "allocator_shim/device/address_space.h"
#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/replay/verified_history.h"

namespace ohm {

/// Where a segment comes to lie.
enum class SegmentAddresses : std::uint8_t {
  /// Those of the recorded sizes at the recorded addresses, in the recorded order, so that a device
  /// that is large enough does exactly what the recorded one did; others above them.
  recorded,
  lowest_gap,  ///< above those that were there at the start
};

class OtherMemory final : public DeviceMemory {
 public:
  OtherMemory(const VerifiedHistory& history, std::size_t capacity_bytes,
              SegmentAddresses addresses);

  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override;
  void free_segment(DeviceAddress address, std::size_t bytes) override;
  DeviceAddress reserve_range(std::size_t bytes) override;
  void release_range(DeviceAddress address, std::size_t bytes) override;
  bool map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;
  void unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;
  DeviceMemoryInfo info() const override;
  std::size_t context_bytes() const override { return 0; }
  std::vector<DeviceProcess> processes() const override { return {}; }
  void* host_pointer(DeviceAddress /*address*/) const override { return nullptr; }

 private:
  bool take(std::size_t bytes);
  std::optional<DeviceAddress> recorded_address(std::size_t bytes);

  std::size_t capacity_bytes_;
  std::size_t held_bytes_ = 0;
  std::unordered_map<std::size_t, std::deque<DeviceAddress>> recorded_;  ///< by size, oldest first
  std::map<DeviceAddress, std::size_t> held_;                            ///< at recorded addresses
  AddressSpace others_;
};

}  // namespace ohm
