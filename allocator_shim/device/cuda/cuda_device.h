// A CUDA device as this process uses it: its context, and what the driver says about it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "allocator_shim/device/cuda/driver.h"
#include "allocator_shim/device/device_memory.h"

namespace ohm::cuda {

struct CudaDeviceProperties {
  std::string name;        ///< "NVIDIA H200"
  std::string pci_bus_id;  ///< "0000:3b:00.0", by which NVML knows it
  std::size_t total_bytes = 0;
  std::array<int, 2> compute_capability = {0, 0};  ///< major, minor
  int multiprocessors = 0;
  int threads_per_multiprocessor = 0;
};

/// Without a context: nothing is taken of the device. Throws std::out_of_range for an ordinal that
/// is none.
CudaDeviceProperties device_properties(const Driver& driver, int ordinal);

/// Holds the device's primary context. Belongs to one thread at a time, as all devices.
class CudaDevice {
 public:
  /// Throws DriverError where the context cannot be made: no memory, a device used exclusively.
  CudaDevice(std::shared_ptr<const Driver> driver, int ordinal);
  ~CudaDevice();
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const Driver& driver() const { return *driver_; }
  /// Functions that act on the device's context, which this makes the current one.
  const DriverFunctions& current() const;
  /// For what gives back: false where the device does not answer any more.
  bool make_current() const noexcept;

  int ordinal() const { return ordinal_; }
  const CudaDeviceProperties& properties() const { return properties_; }
  /// The whole device's (cuMemGetInfo), every process on it included.
  DeviceMemoryInfo memory_info() const;
  /// Returns once everything that was queued is done.
  void synchronize() const;

  // Values. All of it is queued on the default stream, in the order of the calls; what the host
  // gives may be overwritten at once, what it reads is there on return. Addresses are parts of what
  // was allocated on this device.

  void write(Pointer to, const void* from, std::size_t bytes) const;
  void read(void* to, Pointer from, std::size_t bytes) const;
  /// The two do not overlap.
  void copy(Pointer to, Pointer from, std::size_t bytes) const;
  /// From the memory of another device; through the host where the hardware knows no other way.
  void copy_from(const CudaDevice& other, Pointer to, Pointer from, std::size_t bytes) const;
  /// `count` items of 1, 2 or 4 bytes each, all with the low bits of `pattern`.
  void fill(Pointer to, std::uint32_t pattern, std::size_t item_bytes, std::size_t count) const;

  /// Lets this device read and write `other`'s memory; false where the hardware cannot.
  bool enable_peer_access(const CudaDevice& other) const;

 private:
  std::shared_ptr<const Driver> driver_;
  int ordinal_;
  DeviceHandle device_ = 0;
  CudaDeviceProperties properties_;
  ContextHandle context_ = nullptr;
};

}  // namespace ohm::cuda
