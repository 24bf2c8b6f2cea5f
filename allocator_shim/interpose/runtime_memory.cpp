// CUDA's runtime: memory of devices, pinned memory of the host.
#include <cstdint>
#include <cstdlib>

#include "allocator_shim/interpose/arrays.h"
#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/device_growth.h"
#include "allocator_shim/interpose/device_model.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/followed_requests.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/work_in_flight.h"

using namespace ohm::interpose;
using ohm::DeviceAddress;
using ohm::DeviceMemoryInfo;

namespace {

DeviceAddress address_of(const void* pointer) { return reinterpret_cast<DeviceAddress>(pointer); }

Status allocate(void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return noted(Status::invalid_value);
  if (breaks_capture()) return noted(Status::capture_not_allowed);
  DeviceAddress address = 0;
  const Status status = gpus().allocate(gpus().current(), bytes, current_context(), address);
  *pointer = reinterpret_cast<void*>(address);
  if (status == Status::success) note_growth(bytes);
  return noted(status);
}

/// Rows begin where the hardware likes them to. More than there are addresses: out of memory.
Status allocate_rows(void** pointer, std::size_t* pitch, std::size_t row_bytes, std::size_t rows) {
  if (pointer == nullptr || pitch == nullptr) return noted(Status::invalid_value);
  std::size_t padded = 0;
  std::size_t bytes = 0;
  if (__builtin_add_overflow(row_bytes, kPitchBytes - 1, &padded) ||
      __builtin_mul_overflow(padded / kPitchBytes * kPitchBytes, rows, &bytes)) {
    return noted(Status::out_of_memory);
  }
  *pitch = padded / kPitchBytes * kPitchBytes;
  return allocate(pointer, bytes);
}

/// The beginning of cudaPointerAttributes; what follows is reserved.
struct PointerAttributes {
  enum class Type : int { unregistered, host, device, managed } type;
  int device_number;
  void* device_pointer;
  void* host_pointer;
};

constexpr std::size_t kHostPageBytes = 4096;
constexpr unsigned kHostAllocFlags = 7;
constexpr unsigned kHostRegisterFlags = 15;

}  // namespace

OHM_EXPORTED Status cudaMalloc(void** pointer, std::size_t bytes) {
  OHM_RUNTIME_CALL;
  return allocate(pointer, bytes);
}

OHM_EXPORTED Status cudaFree(void* pointer) {
  OHM_RUNTIME_CALL;
  if (pointer != nullptr && breaks_capture()) return noted(Status::capture_not_allowed);
  return noted(free_when_finished(address_of(pointer)));
}

OHM_EXPORTED Status cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t row_bytes,
                                    std::size_t rows) {
  OHM_RUNTIME_CALL;
  return allocate_rows(pointer, pitch, row_bytes, rows);
}

OHM_EXPORTED Status cudaMalloc3D(PitchedPointer* pointer, Extent extent) {
  OHM_RUNTIME_CALL;
  if (pointer == nullptr) return noted(Status::invalid_value);
  *pointer = {nullptr, 0, extent.width, extent.height};
  std::size_t rows = 0;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) {
    return noted(Status::out_of_memory);
  }
  return allocate_rows(&pointer->pointer, &pointer->pitch, extent.width, rows);
}

OHM_EXPORTED Status cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  restore_stream_of_request();
  OHM_RUNTIME_CALL;
  if (free_bytes == nullptr || total_bytes == nullptr) return noted(Status::invalid_value);
  DeviceMemoryInfo info;
  const Status status = gpus().info(gpus().current(), info);
  if (status != Status::success) return noted(status);
  *free_bytes = info.free_bytes;
  *total_bytes = info.total_bytes;
  return Status::success;
}

OHM_EXPORTED Status cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  OHM_RUNTIME_CALL;
  if (pointer == nullptr || flags > kHostAllocFlags) return noted(Status::invalid_value);
  *pointer = nullptr;
  if (bytes == 0) return Status::success;
  if (posix_memalign(pointer, kHostPageBytes, bytes) != 0) {
    *pointer = nullptr;
    return noted(Status::out_of_memory);
  }
  gpus().add_pinned(*pointer, bytes, Pinned::allocated, flags);
  return Status::success;
}

OHM_EXPORTED Status cudaMallocHost(void** pointer, std::size_t bytes) {
  OHM_RUNTIME_CALL;
  return cudaHostAlloc(pointer, bytes, 0);
}

OHM_EXPORTED Status cudaFreeHost(void* pointer) {
  OHM_RUNTIME_CALL;
  if (pointer == nullptr) return Status::success;
  if (!gpus().remove_pinned(pointer, Pinned::allocated)) return noted(Status::invalid_value);
  std::free(pointer);
  return Status::success;
}

OHM_EXPORTED Status cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags) {
  OHM_RUNTIME_CALL;
  const bool is_right = bytes != 0 && flags <= kHostRegisterFlags && is_host_memory(pointer, bytes);
  if (!is_right) return noted(Status::invalid_value);
  const bool is_new = gpus().add_pinned(pointer, bytes, Pinned::registered, flags);
  return is_new ? Status::success : noted(Status::host_memory_already_registered);
}

OHM_EXPORTED Status cudaHostUnregister(void* pointer) {
  OHM_RUNTIME_CALL;
  if (pointer == nullptr) return noted(Status::invalid_value);
  const bool was_registered = gpus().remove_pinned(pointer, Pinned::registered);
  return was_registered ? Status::success : noted(Status::host_memory_not_registered);
}

OHM_EXPORTED Status cudaHostGetDevicePointer(void** device, void* host, unsigned flags) {
  OHM_RUNTIME_CALL;
  if (device == nullptr || flags != 0) return noted(Status::invalid_value);
  *device = nullptr;
  const bool is_reached = gpus().is_pinned(host) && !gpus().is_variable(host);
  if (!is_reached) return noted(Status::invalid_value);
  *device = host;
  return Status::success;
}

OHM_EXPORTED Status cudaHostGetFlags(unsigned* flags, void* pointer) {
  OHM_RUNTIME_CALL;
  const auto found = gpus().pinned_flags(pointer);
  if (flags == nullptr || !found || gpus().is_variable(pointer)) {
    return noted(Status::invalid_value);
  }
  *flags = *found;
  return Status::success;
}

OHM_EXPORTED Status cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  OHM_RUNTIME_CALL;
  if (attributes == nullptr) return noted(Status::invalid_value);
  constexpr int kNoDevice = -2;  // cudaInvalidDeviceId
  void* const both = const_cast<void*>(pointer);
  if (const auto range = gpus().find(address_of(pointer))) {
    *attributes = {PointerAttributes::Type::device, range->device, both, nullptr};
  } else if (const auto managed = gpus().managed_range(address_of(pointer))) {
    *attributes = {PointerAttributes::Type::managed, managed->device, both, both};
  } else if (gpus().is_variable(pointer)) {
    *attributes = {PointerAttributes::Type::device, gpus().current(), both, nullptr};
  } else if (const auto pinned = gpus().pinned_range(pointer)) {
    *attributes = {PointerAttributes::Type::host, pinned->device, both, both};
  } else {
    *attributes = {PointerAttributes::Type::unregistered, kNoDevice, nullptr, both};
  }
  return Status::success;
}
