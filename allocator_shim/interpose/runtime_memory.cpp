// CUDA's runtime: memory of devices, pinned memory of the host, copies.
#include <cstdint>
#include <cstdlib>

#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/followed_requests.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/status.h"

using namespace ohm::interpose;
using ohm::DeviceAddress;
using ohm::DeviceMemoryInfo;

namespace {

DeviceAddress address_of(const void* pointer) { return reinterpret_cast<DeviceAddress>(pointer); }

Status allocate(void** pointer, std::size_t bytes) {
  DeviceAddress address = 0;
  const Status status = gpus().allocate(gpus().current(), bytes, address);
  *pointer = reinterpret_cast<void*>(address);
  return noted(status);
}

/// The beginning of cudaPointerAttributes; what follows is reserved.
struct PointerAttributes {
  enum class Type : int { unregistered, host, device } type;
  int device_number;
  void* device_pointer;
  void* host_pointer;
};

}  // namespace

OHM_EXPORTED Status cudaMalloc(void** pointer, std::size_t bytes) {
  return allocate(pointer, bytes);
}

OHM_EXPORTED Status cudaFree(void* pointer) { return noted(gpus().free(address_of(pointer))); }

OHM_EXPORTED Status cudaMallocAsync(void** pointer, std::size_t bytes, void* /*stream*/) {
  return allocate(pointer, bytes);
}

OHM_EXPORTED Status cudaFreeAsync(void* pointer, void* /*stream*/) { return cudaFree(pointer); }

OHM_EXPORTED Status cudaMallocManaged(void** pointer, std::size_t bytes, unsigned /*flags*/) {
  return allocate(pointer, bytes);
}

/// Rows begin where the hardware likes them to.
OHM_EXPORTED Status cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t row_bytes,
                                    std::size_t rows) {
  constexpr std::size_t kPitchBytes = 512;
  *pitch = (row_bytes + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
  return allocate(pointer, *pitch * rows);
}

OHM_EXPORTED Status cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  restore_stream_of_request();
  if (!gpus().has(gpus().current())) return noted(Status::no_device);
  const DeviceMemoryInfo info = gpus().info(gpus().current());
  *free_bytes = info.free_bytes;
  *total_bytes = info.total_bytes;
  return Status::success;
}

OHM_EXPORTED Status cudaDeviceGetDefaultMemPool(void** pool, int device) {
  if (!gpus().has(device)) return noted(Status::invalid_device);
  // A handle that says which device it is of.
  *pool = reinterpret_cast<void*>(static_cast<std::uintptr_t>(device) + 1);
  return Status::success;
}

OHM_EXPORTED Status cudaDeviceGetMemPool(void** pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}

OHM_EXPORTED Status cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, void* pool,
                                            void* /*stream*/) {
  DeviceAddress address = 0;
  const int device = static_cast<int>(reinterpret_cast<std::uintptr_t>(pool)) - 1;
  const Status status = gpus().allocate(device, bytes, address);
  *pointer = reinterpret_cast<void*>(address);
  return noted(status);
}

OHM_EXPORTED Status cudaMemPoolGetAttribute(void* pool, int attribute, void* value) {
  constexpr int kFirstSize = 4;  // those before are switches
  constexpr int kReleaseThreshold = 4;
  if (attribute < kFirstSize) {
    *static_cast<int*>(value) = 0;
    return Status::success;
  }
  const int device = static_cast<int>(reinterpret_cast<std::uintptr_t>(pool)) - 1;
  if (!gpus().has(device)) return noted(Status::invalid_value);
  *static_cast<std::uint64_t*>(value) =
      attribute == kReleaseThreshold ? 0 : gpus().allocated_bytes(device);
  return Status::success;
}

OHM_EXPORTED Status cudaHostAlloc(void** pointer, std::size_t bytes, unsigned /*flags*/) {
  constexpr std::size_t kPageBytes = 4096;
  *pointer = nullptr;
  if (bytes == 0) return Status::success;
  if (posix_memalign(pointer, kPageBytes, bytes) != 0) return noted(Status::out_of_memory);
  gpus().add_pinned(*pointer, bytes);
  return Status::success;
}

OHM_EXPORTED Status cudaMallocHost(void** pointer, std::size_t bytes) {
  return cudaHostAlloc(pointer, bytes, 0);
}

OHM_EXPORTED Status cudaFreeHost(void* pointer) {
  if (pointer == nullptr) return Status::success;
  if (!gpus().remove_pinned(pointer)) return noted(Status::invalid_value);
  std::free(pointer);
  return Status::success;
}

OHM_EXPORTED Status cudaHostRegister(void* pointer, std::size_t bytes, unsigned /*flags*/) {
  gpus().add_pinned(pointer, bytes);
  return Status::success;
}

OHM_EXPORTED Status cudaHostUnregister(void* pointer) {
  return gpus().remove_pinned(pointer) ? Status::success : noted(Status::invalid_value);
}

OHM_EXPORTED Status cudaHostGetDevicePointer(void** device, void* host, unsigned /*flags*/) {
  *device = host;
  return Status::success;
}

OHM_EXPORTED Status cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  constexpr int kNoDevice = -2;  // cudaInvalidDeviceId
  void* const both = const_cast<void*>(pointer);
  if (const auto range = gpus().find(address_of(pointer))) {
    *attributes = {PointerAttributes::Type::device, range->device, both, nullptr};
  } else if (gpus().is_pinned(pointer)) {
    *attributes = {PointerAttributes::Type::host, gpus().current(), both, both};
  } else {
    *attributes = {PointerAttributes::Type::unregistered, kNoDevice, nullptr, both};
  }
  return Status::success;
}

OHM_EXPORTED Status cudaMemcpy(void* to, const void* from, std::size_t bytes, int /*kind*/) {
  return noted(copy(to, from, bytes));
}

OHM_EXPORTED Status cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int /*kind*/,
                                    Stream* stream) {
  return noted(on_stream(stream, [&] { return copy(to, from, bytes); }));
}

OHM_EXPORTED Status cudaMemcpyPeerAsync(void* to, int /*to_device*/, const void* from,
                                        int /*from_device*/, std::size_t bytes, Stream* stream) {
  return noted(on_stream(stream, [&] { return copy(to, from, bytes); }));
}

OHM_EXPORTED Status cudaMemcpyPeer(void* to, int /*to_device*/, const void* from,
                                   int /*from_device*/, std::size_t bytes) {
  return noted(copy(to, from, bytes));
}

OHM_EXPORTED Status cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from,
                                 std::size_t from_pitch, std::size_t width, std::size_t height,
                                 int /*kind*/) {
  return noted(copy_rows(to, to_pitch, from, from_pitch, width, height));
}

OHM_EXPORTED Status cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                                      std::size_t from_pitch, std::size_t width, std::size_t height,
                                      int /*kind*/, Stream* stream) {
  return noted(
      on_stream(stream, [&] { return copy_rows(to, to_pitch, from, from_pitch, width, height); }));
}

OHM_EXPORTED Status cudaMemset(void* to, int byte, std::size_t bytes) {
  return noted(fill(to, byte, bytes));
}

OHM_EXPORTED Status cudaMemsetAsync(void* to, int byte, std::size_t bytes, Stream* stream) {
  return noted(on_stream(stream, [&] { return fill(to, byte, bytes); }));
}

OHM_EXPORTED Status cudaMemset2D(void* to, std::size_t pitch, int byte, std::size_t width,
                                 std::size_t height) {
  return noted(fill_rows(to, pitch, byte, width, height));
}

OHM_EXPORTED Status cudaMemset2DAsync(void* to, std::size_t pitch, int byte, std::size_t width,
                                      std::size_t height, Stream* stream) {
  return noted(on_stream(stream, [&] { return fill_rows(to, pitch, byte, width, height); }));
}
