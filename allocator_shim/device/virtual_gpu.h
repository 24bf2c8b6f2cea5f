// A GPU made of arithmetic: a capacity, a context and an address space.
//
// What a program may hold is decided as on a GPU: a segment or a chunk is granted when it fits
// into what every process on the GPU left free. Addresses are the same on every run and machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "allocator_shim/device/address_space.h"
#include "allocator_shim/device/device_memory.h"
#include "allocator_shim/device/gpu_profile.h"
#include "allocator_shim/device/shared_gpu_memory.h"
#include "allocator_shim/device/value_budget.h"

namespace ohm {

class HostMapping;

/// Whether the out-of-memory message can tell who holds the memory (PyTorch: is NVML there).
enum class ProcessListing : std::uint8_t { available, unavailable };

/// What addresses are.
enum class AddressOrigin : std::uint8_t {
  synthetic,  ///< the same everywhere, and never dereferenced
  host        ///< those of the host memory behind them; only for devices that keep values
};

struct VirtualGpuOptions {
  std::size_t context_bytes = 0;
  int device = 0;
  ValueMode values = ValueMode::size_only;
  ProcessListing process_listing = ProcessListing::available;
  AddressOrder address_order = AddressOrder::lowest_gap;
  AddressOrigin address_origin = AddressOrigin::synthetic;
  std::uint32_t process_id = 1;   ///< as the messages of the GPU's other processes show it
  ValueBudget* budget = nullptr;  ///< of values, not owned; nullptr: as much as the host has
};

class VirtualGpu final : public DeviceMemory {
 public:
  /// Device n's synthetic addresses begin at kFirstAddress + n * kAddressesPerDevice.
  static constexpr DeviceAddress kFirstAddress = 0x7f0000000000;
  static constexpr std::size_t kAddressesPerDevice = std::size_t{1} << 40U;
  /// The host's begin at kFirstHostAddress + n * kHostAddressesPerDevice, where nothing else is.
  static constexpr DeviceAddress kFirstHostAddress = 0x200000000000;
  static constexpr std::size_t kHostAddressesPerDevice = std::size_t{1} << 42U;

  /// A process on a GPU of its own. Throws std::invalid_argument when the context does not fit.
  VirtualGpu(std::size_t capacity_bytes, const VirtualGpuOptions& options);
  /// One more process on the GPU of `memory`. Throws std::invalid_argument when the context does
  /// not fit.
  VirtualGpu(std::shared_ptr<SharedGpuMemory> memory, const VirtualGpuOptions& options);
  /// A GPU of the profile's capacity and context.
  VirtualGpu(const GpuProfile& profile, int device, ValueMode values);
  ~VirtualGpu() override;

  std::optional<DeviceAddress> allocate_segment(std::size_t bytes) override;
  void free_segment(DeviceAddress address, std::size_t bytes) override;
  DeviceAddress reserve_range(std::size_t bytes) override;
  void release_range(DeviceAddress address, std::size_t bytes) override;
  bool map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;
  void unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) override;

  /// The two halves of map(), for who has them apart. Memory without addresses (cuMemCreate,
  /// cuMemRelease). False: no room.
  bool create_chunk(std::size_t bytes);
  void release_chunk(std::size_t bytes);
  /// Addresses for memory that was created (cuMemMap, cuMemUnmap). Throws HostRefusal.
  void map_chunk(DeviceAddress address, std::size_t bytes);
  void unmap_chunk(DeviceAddress address, std::size_t bytes);

  /// The process ends: all that it holds is given back to the GPU at once. What it still frees
  /// afterwards is its own affair.
  void leave_device();

  DeviceMemoryInfo info() const override;
  std::size_t context_bytes() const override { return options_.context_bytes; }
  std::vector<DeviceProcess> processes() const override;
  void* host_pointer(DeviceAddress address) const override;

  /// Whether the address is one that this GPU could hand out.
  bool may_hand_out(DeviceAddress address) const {
    return address - addresses_.base() < addresses_.size_bytes();
  }

 private:
  /// Throws HostRefusal, after giving the bytes back that were taken for it.
  void commit(DeviceAddress address, std::size_t bytes);

  VirtualGpuOptions options_;
  std::shared_ptr<SharedGpuMemory> memory_;
  std::size_t place_;                    ///< of this process on the GPU
  std::size_t taken_bytes_ = 0;          ///< by it
  std::unique_ptr<HostMapping> values_;  ///< nullptr: size-only
  AddressSpace addresses_;
};

}  // namespace ohm
