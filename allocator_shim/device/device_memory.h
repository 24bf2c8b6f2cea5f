// The floor that a caching allocator stands on: device memory in segments.
//
// Every backend (virtual GPU, CUDA GPU) and every adaptor at the segment level (capacity, fault
// plan) implements this page; the caching allocator cannot tell them apart.
//
// Pre-conditions, for all calls: sizes are positive multiples of granularity_bytes() for ranges
// and of 512 for segments; an address given back was handed out by the same object and is given
// back once. Running out of memory is an answer (`nullopt`, `false`), not an exception; anything
// else that fails throws std::runtime_error. Not thread-safe: one device belongs to one thread at
// a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ohm {

/// An address as the device shows it: synthetic on a virtual GPU, never dereferenced by the host.
using DeviceAddress = std::uint64_t;

/// Whether a device of ours computes or only counts.
enum class ValueMode : std::uint8_t {
  size_only,    ///< no page is ever touched
  keeps_values  ///< host memory behind every segment, committed when first touched
};

/// What cudaMemGetInfo reports: the whole device, every process on it.
struct DeviceMemoryInfo {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
};

/// One process that holds memory on a device, as NVML lists it.
struct DeviceProcess {
  std::uint32_t id = 0;
  bool is_own = false;    ///< the process that asks
  std::size_t bytes = 0;  ///< its context included
};

class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  virtual ~DeviceMemory() = default;

  /// One contiguous segment (cudaMalloc), or nullopt when the device has no room for it.
  virtual std::optional<DeviceAddress> allocate_segment(std::size_t bytes) = 0;
  virtual void free_segment(DeviceAddress address, std::size_t bytes) = 0;

  /// A range of addresses without memory behind it (cuMemAddressReserve).
  virtual DeviceAddress reserve_range(std::size_t bytes) = 0;
  virtual void release_range(DeviceAddress address, std::size_t bytes) = 0;

  /// Puts memory behind [address, address + bytes) of a reserved range, in chunks of
  /// `chunk_bytes` (cuMemCreate + cuMemMap each). False: no room; then nothing is mapped.
  virtual bool map(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) = 0;
  virtual void unmap(DeviceAddress address, std::size_t bytes, std::size_t chunk_bytes) = 0;

  virtual DeviceMemoryInfo info() const = 0;

  /// Bytes that this process holds on the device outside the segments: the context. Part of what
  /// the out-of-memory message calls "this process has … memory in use".
  virtual std::size_t context_bytes() const = 0;

  /// Every process on the device, in the order of the out-of-memory message; empty where nothing
  /// can tell (PyTorch without NVML).
  virtual std::vector<DeviceProcess> processes() const = 0;

  /// The host memory behind a device address, for devices that keep values; nullptr on size-only
  /// devices and on real GPUs.
  virtual void* host_pointer(DeviceAddress address) const = 0;
};

}  // namespace ohm
