// The memory of a CUDA device, in segments: what the caching allocator stands on where there is
// one.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "allocator_shim/device/cuda/cuda_device.h"
#include "allocator_shim/device/cuda/nvml.h"
#include "allocator_shim/device/device_memory.h"

namespace ohm::cuda {

/// Addresses are the driver's own. A call that finds the device broken (is_sticky) throws once;
/// from then on giving back does nothing, for the memory goes with the process.
class CudaMemory final : public DeviceMemory {
 public:
  /// `nvml` tells which processes hold the device's memory; nullptr: that is not told. Throws
  /// GpuUnavailable for a device that cannot map memory in pieces of 2 MiB.
  explicit CudaMemory(std::shared_ptr<const CudaDevice> device,
                      std::shared_ptr<const Nvml> nvml = nullptr);
  /// What was not given back is.
  ~CudaMemory() override;

  /// Asked where the device has no memory left: true where it was given some back, to try again.
  void on_shortage(std::function<bool()> give_back) { on_shortage_ = std::move(give_back); }

  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override;
  void free_segment(DeviceAddress address, std::size_t bytes) override;
  DeviceAddress reserve_range(std::size_t bytes) override;
  void release_range(DeviceAddress address, std::size_t bytes) override;
  bool map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;
  void unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;

  DeviceMemoryInfo info() const override { return device_->memory_info(); }
  /// As NVML shows this process now, without the segments; 0 where it does not.
  std::size_t context_bytes() const override;
  std::vector<DeviceProcess> processes() const override;
  void* host_pointer(DeviceAddress /*address*/) const override { return nullptr; }

  /// The program that uses it ends: all that it holds is given back at once. What it still frees
  /// afterwards is its own affair.
  void leave_device();

 private:
  bool is_less_short() const { return on_shortage_ && on_shortage_(); }
  bool try_map_chunk(DeviceAddress address, std::size_t bytes);
  void unmap_chunk(DeviceAddress address, std::size_t bytes);
  std::size_t held_bytes() const;
  bool gives_back() const { return !has_left_ && device_->driver().is_usable(); }

  std::shared_ptr<const CudaDevice> device_;
  std::shared_ptr<const Nvml> nvml_;
  // Address -> bytes.
  std::map<DeviceAddress, std::size_t> segments_;
  std::map<DeviceAddress, std::size_t> ranges_;
  std::map<DeviceAddress, std::size_t> chunks_;  ///< mapped
  std::function<bool()> on_shortage_;
  bool has_left_ = false;
};

}  // namespace ohm::cuda
