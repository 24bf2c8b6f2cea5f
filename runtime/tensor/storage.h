// The bytes that tensors look at: owned device memory, shared by all views of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "allocator_shim/device/request_allocator.h"
#include "runtime/base/device.h"
#include "runtime/base/intrusive_ptr.h"
#include "runtime/base/pooled.h"
#include "runtime/tensor/cuda_backend.h"

namespace ohm {

/// Which copy of a storage's values is up to date where there are two of them: one in a CUDA
/// device's memory, one in the host's memory behind it.
enum class Residency : std::uint8_t {
  nowhere,  ///< nothing was written so far: either copy will do
  host,
  device,
  both
};

/// What is done with the device's copy.
enum class CudaAccess : std::uint8_t {
  read,
  write,     ///< of a part, or after reading
  overwrite  ///< of everything: what was there need not be
};

// Note [Two copies of values]
// The memory of a GPU that is on a CUDA device is the device's, and for every op without a kernel
// there the host's memory stands behind it. Each storage knows which of the two is up to date. Code
// that wants values says where and what for, each time before a loop or a launch, and is given an
// address in a copy that is up to date; writing makes the other copy stale. An address is good
// until the values are asked for for the values at the other place. On virtual GPUs and on the host
// there is one copy, and asking costs a comparison.

/// One allocation. Its memory goes back to the allocator when the last tensor on it goes.
class Storage final : public RefCounted, public Pooled<Storage> {
 public:
  /// Of memory of `allocator`, which lies on `device` and outlives the storage; `device` may be
  /// null. Throws OutOfMemory. Programs allocate by allocation.h.
  static IntrusivePtr<Storage> allocate(RequestAllocator& allocator,
                                        const AllocationRequest& request, Device device,
                                        const CudaBackend* backend);

  std::size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  DeviceAddress address() const { return allocation_.address; }

  /// False on size-only devices and for 0 bytes. Moves nothing.
  bool has_values() const { return has_values_; }

  /// Host memory with the values, to be written; nullptr where there are none. Throws
  /// std::runtime_error where a CUDA device does not give them.
  std::byte* values() {
    if (backend_ != nullptr) use_on_host(true);
    return host_copy();
  }
  /// The same to be read alone: a device's copy stays up to date.
  const std::byte* read_values() {
    if (backend_ != nullptr) use_on_host(false);
    return host_copy();
  }

  /// The CUDA device that the values may be computed on; nullptr where there are none, or no CUDA
  /// device.
  const CudaBackend* cuda_backend() const { return backend_; }
  Residency residency() const { return residency_; }
  /// The values on the device. Pre-condition: cuda_backend() != nullptr. Throws std::runtime_error.
  DeviceAddress cuda_address(CudaAccess access);

  /// The `bytes` at `offset`, wherever they are up to date, to memory of the host. For a few: both
  /// copies stay as they are. Pre-condition: has_values().
  void peek(void* to, std::size_t offset, std::size_t bytes) const;

  /// Copies between two storages that have values, on the way that is shortest for where they are
  /// up to date. Offsets are in bytes; the parts may overlap.
  static void copy(Storage& to, std::size_t to_offset, Storage& from, std::size_t from_offset,
                   std::size_t bytes);

  /// Counts in-place writes, but for those to tensors with a count of their own
  /// (Tensor::version()).
  std::uint32_t version() const { return version_; }
  void bump_version() { ++version_; }
  /// Counts all of them.
  std::uint32_t writes() const { return version_ + uncounted_writes_; }
  void note_uncounted_write() { ++uncounted_writes_; }

  void set_category(Category category);
  void record_stream(StreamId stream);

  /// Whose memory it is, and the block there; nullptr where nothing was allocated.
  const RequestAllocator* allocator() const { return allocator_; }
  BlockHandle block() const { return allocation_.block; }

  static void destroy(Storage* storage);

 private:
  Storage() = default;
  ~Storage();

  std::byte* host_copy() const { return static_cast<std::byte*>(allocation_.values); }
  void use_on_host(bool to_write);
  void copy_to_device(std::size_t offset, const Storage& from, std::size_t from_offset,
                      std::size_t bytes);

  RequestAllocator* allocator_ = nullptr;
  Allocation allocation_;
  std::size_t bytes_ = 0;
  const CudaBackend* backend_ = nullptr;  ///< not owned; outlives the storage
  Device device_;
  Residency residency_ = Residency::nowhere;  ///< where there is a CUDA device
  std::uint32_t version_ = 0;
  std::uint32_t uncounted_writes_ = 0;  ///< those that version_ leaves out
  bool has_values_ = false;
};

}  // namespace ohm
