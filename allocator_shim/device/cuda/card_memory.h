// A real card's memory, in segments: what the caching allocator stands on where there is one.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "allocator_shim/device/cuda/card.h"
#include "allocator_shim/device/cuda/nvml.h"
#include "allocator_shim/device/device_memory.h"

namespace ohm::cuda {

/// Addresses are the driver's own. A call that finds the card broken (is_sticky) throws once; from
/// then on giving back does nothing, for the memory goes with the process.
class CardMemory final : public DeviceMemory {
 public:
  /// `nvml` tells who holds the card's memory; nullptr: nobody does. Throws GpuUnavailable for a
  /// card that cannot map memory in pieces of 2 MiB.
  explicit CardMemory(std::shared_ptr<const Card> card, std::shared_ptr<const Nvml> nvml = nullptr);
  /// What was not given back is.
  ~CardMemory() override;

  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override;
  void free_segment(DeviceAddress address, std::size_t bytes) override;
  DeviceAddress reserve_range(std::size_t bytes) override;
  void release_range(DeviceAddress address, std::size_t bytes) override;
  bool map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;
  void unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;

  DeviceMemoryInfo info() const override { return card_->memory_info(); }
  /// As NVML shows this process now, without the segments; 0 where it does not.
  std::size_t context_bytes() const override;
  std::vector<DeviceProcess> processes() const override;
  void* host_pointer(DeviceAddress /*address*/) const override { return nullptr; }

  /// The program that uses it ends: all that it holds is given back at once. What it still frees
  /// afterwards is its own affair.
  void leave_card();

 private:
  bool try_map_chunk(DeviceAddress address, std::size_t bytes);
  void unmap_chunk(DeviceAddress address, std::size_t bytes);
  std::size_t held_bytes() const;
  bool gives_back() const { return !has_left_ && card_->driver().is_usable(); }

  std::shared_ptr<const Card> card_;
  std::shared_ptr<const Nvml> nvml_;
  // Address -> bytes.
  std::map<DeviceAddress, std::size_t> segments_;
  std::map<DeviceAddress, std::size_t> ranges_;
  std::map<DeviceAddress, std::size_t> chunks_;  ///< mapped
  bool has_left_ = false;
};

}  // namespace ohm::cuda
