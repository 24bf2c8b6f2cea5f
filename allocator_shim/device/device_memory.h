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

namespace ohm {

/// An address as the device shows it: synthetic on a virtual GPU, never dereferenced by the host.
using DeviceAddress = std::uint64_t;

/// What cudaMemGetInfo reports: the whole device, every process on it.
struct DeviceMemoryInfo {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
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

  /// The host memory behind a device address, for devices that keep values; nullptr on size-only
  /// devices and on real GPUs.
  virtual void* host_pointer(DeviceAddress address) const = 0;
};

}  // namespace ohm
