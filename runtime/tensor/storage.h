// The bytes that tensors look at: owned device memory, shared by all views of it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "allocator_shim/device/request_allocator.h"
#include "runtime/tensor/device.h"
#include "runtime/tensor/intrusive_ptr.h"

namespace ohm {

/// One allocation. Its memory goes back to the allocator when the last tensor on it goes.
class Storage : public RefCounted {
 public:
  /// Allocates on `device` for the current context: its category, its site, its stream.
  /// Throws OutOfMemory; std::invalid_argument for a device that does not exist.
  static IntrusivePtr<Storage> allocate(std::size_t bytes, Device device);

  /// The same in page-locked memory of the host. Throws std::invalid_argument where there is none.
  static IntrusivePtr<Storage> allocate_pinned(std::size_t bytes);

  std::size_t bytes() const { return bytes_; }
  Device device() const { return device_; }
  DeviceAddress address() const { return allocation_.address; }

  /// Host memory with the values; nullptr on size-only devices and for 0 bytes.
  std::byte* values() const { return static_cast<std::byte*>(allocation_.values); }

  /// Counts in-place writes: a saved tensor remembers it, to find out that it was overwritten.
  std::uint32_t version() const { return version_; }
  void bump_version() { ++version_; }

  void set_category(Category category);
  void record_stream(StreamId stream);

  bool is_pinned() const;
  /// A copy between this page-locked memory and `gpu` is queued on the GPU's current stream. For
  /// other memory there is nothing to do.
  void record_copy(Device gpu);

  static void destroy(Storage* storage);

 private:
  Storage() = default;
  static IntrusivePtr<Storage> from(RequestAllocator* allocator, std::size_t bytes, Device device);
  ~Storage();

  RequestAllocator* allocator_ = nullptr;
  Allocation allocation_;
  std::size_t bytes_ = 0;
  Device device_;
  std::uint32_t version_ = 0;
};

}  // namespace ohm
