// CUDA's driver: memory, and the virtual-memory calls that expandable segments are made of.
#include <algorithm>
#include <array>
#include <cstdint>

#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/device_growth.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/work_in_flight.h"

using namespace ohm::interpose;
using ohm::AddressSpace;
using ohm::DeviceAddress;
using ohm::DeviceMemoryInfo;

extern "C" {
Status cudaHostAlloc(void** pointer, std::size_t bytes, unsigned flags);
Status cudaFreeHost(void* pointer);
Status cudaHostRegister(void* pointer, std::size_t bytes, unsigned flags);
Status cudaHostUnregister(void* pointer);
Status cudaHostGetDevicePointer(void** device, void* host, unsigned flags);
Status cudaHostGetFlags(unsigned* flags, void* pointer);
Status cudaMallocAsync(void** pointer, std::size_t bytes, Stream* stream);
Status cudaFreeAsync(void* pointer, Stream* stream);
Status cudaMallocFromPoolAsync(void** pointer, std::size_t bytes, MemoryPool* pool, Stream* stream);
Status cudaMallocManaged(void** pointer, std::size_t bytes, unsigned flags);
Status cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t row_bytes, std::size_t rows);
}

namespace {

/// The beginning of CUmemAllocationProp.
struct AllocationProperties {
  int type;
  int handle_types;
  int location_type;
  int device;
  void* metadata;
  std::uint64_t flags;
};

/// CUmemLocation.
struct AllocationLocation {
  int type;
  int device;
};

/// CUmemAccessDesc.
struct AccessDescription {
  int location_type;
  int device;
  unsigned protection;
};
constexpr unsigned kReadAndWrite = 3;

constexpr int kPinnedAllocation = 1;
constexpr int kOnDevice = 1;

bool is_of_device(const AllocationProperties* properties) {
  return properties != nullptr && properties->type == kPinnedAllocation &&
         properties->location_type == kOnDevice;
}

Status copy_waited_for(void* to, const void* from, std::size_t bytes, Direction direction) {
  return waited_for(direction, [&] { return copy(to, from, bytes, direction); });
}

}  // namespace

OHM_EXPORTED Status cuMemAlloc_v2(DeviceAddress* address, std::size_t bytes) {
  OHM_CONTEXT_CALL;
  if (address == nullptr || bytes == 0) return Status::invalid_value;
  if (breaks_capture()) return Status::capture_not_allowed;
  return gpus().allocate(gpus().current(), bytes, current_context(), *address);
}

OHM_EXPORTED Status cuMemFree_v2(DeviceAddress address) {
  OHM_CONTEXT_CALL;
  if (breaks_capture()) return Status::capture_not_allowed;
  return free_when_finished(address);
}

OHM_EXPORTED Status cuMemAllocAsync(DeviceAddress* address, std::size_t bytes, Stream* stream) {
  OHM_CONTEXT_CALL;
  if (bytes == 0) return Status::invalid_value;
  return cudaMallocAsync(reinterpret_cast<void**>(address), bytes, stream);
}

OHM_EXPORTED Status cuMemFreeAsync(DeviceAddress address, Stream* stream) {
  OHM_CONTEXT_CALL;
  return cudaFreeAsync(reinterpret_cast<void*>(address), stream);
}

OHM_EXPORTED Status cuMemAllocManaged(DeviceAddress* address, std::size_t bytes, unsigned flags) {
  OHM_CONTEXT_CALL;
  return cudaMallocManaged(reinterpret_cast<void**>(address), bytes, flags);
}

OHM_EXPORTED Status cuMemAllocFromPoolAsync(DeviceAddress* address, std::size_t bytes,
                                            MemoryPool* pool, Stream* stream) {
  OHM_CONTEXT_CALL;
  if (bytes == 0) return Status::invalid_value;
  return cudaMallocFromPoolAsync(reinterpret_cast<void**>(address), bytes, pool, stream);
}

/// `element_bytes`: of what kernels read at once.
OHM_EXPORTED Status cuMemAllocPitch_v2(DeviceAddress* address, std::size_t* pitch,
                                       std::size_t row_bytes, std::size_t rows,
                                       unsigned element_bytes) {
  OHM_CONTEXT_CALL;
  const bool is_element = element_bytes == 4 || element_bytes == 8 || element_bytes == 16;
  if (!is_element || row_bytes == 0 || rows == 0) return Status::invalid_value;
  return cudaMallocPitch(reinterpret_cast<void**>(address), pitch, row_bytes, rows);
}

OHM_EXPORTED Status cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  OHM_CONTEXT_CALL;
  return cudaHostAlloc(pointer, bytes, flags);
}

OHM_EXPORTED Status cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
  OHM_CONTEXT_CALL;
  return cudaHostAlloc(pointer, bytes, 0);
}

OHM_EXPORTED Status cuMemFreeHost(void* pointer) {
  OHM_CONTEXT_CALL;
  return cudaFreeHost(pointer);
}

OHM_EXPORTED Status cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned flags) {
  OHM_CONTEXT_CALL;
  return cudaHostRegister(pointer, bytes, flags);
}

OHM_EXPORTED Status cuMemHostUnregister(void* pointer) {
  OHM_CONTEXT_CALL;
  return cudaHostUnregister(pointer);
}

OHM_EXPORTED Status cuMemHostGetDevicePointer_v2(void** device, void* host, unsigned flags) {
  OHM_CONTEXT_CALL;
  return cudaHostGetDevicePointer(device, host, flags);
}

OHM_EXPORTED Status cuMemHostGetFlags(unsigned* flags, void* pointer) {
  OHM_CONTEXT_CALL;
  return cudaHostGetFlags(flags, pointer);
}

OHM_EXPORTED Status cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  OHM_CONTEXT_CALL;
  if (free_bytes == nullptr || total_bytes == nullptr) return Status::invalid_value;
  DeviceMemoryInfo info;
  const Status status = gpus().info(gpus().current(), info);
  if (status != Status::success) return status;
  *free_bytes = info.free_bytes;
  *total_bytes = info.total_bytes;
  return Status::success;
}

OHM_EXPORTED Status cuMemGetAddressRange_v2(DeviceAddress* base, std::size_t* bytes,
                                            DeviceAddress address) {
  OHM_CONTEXT_CALL;
  const auto range = gpus().find(address);
  if (!range) return Status::invalid_value;
  if (base != nullptr) *base = range->address;
  if (bytes != nullptr) *bytes = range->bytes;
  return Status::success;
}

OHM_EXPORTED Status cuMemcpy(void* to, const void* from, std::size_t bytes) {
  OHM_CONTEXT_CALL;
  return copy_waited_for(to, from, bytes, Direction::unified);
}

OHM_EXPORTED Status cuMemcpyAsync(void* to, const void* from, std::size_t bytes, Stream* stream) {
  OHM_CONTEXT_CALL;
  return copy_on(stream, to, from, bytes, Direction::unified);
}

OHM_EXPORTED Status cuMemcpyHtoD_v2(void* to, const void* from, std::size_t bytes) {
  OHM_CONTEXT_CALL;
  return copy_waited_for(to, from, bytes, Direction::host_to_device);
}

OHM_EXPORTED Status cuMemcpyDtoH_v2(void* to, const void* from, std::size_t bytes) {
  OHM_CONTEXT_CALL;
  return copy_waited_for(to, from, bytes, Direction::device_to_host);
}

OHM_EXPORTED Status cuMemcpyDtoD_v2(void* to, const void* from, std::size_t bytes) {
  OHM_CONTEXT_CALL;
  return copy_waited_for(to, from, bytes, Direction::device_to_device);
}

OHM_EXPORTED Status cuMemcpyHtoDAsync_v2(void* to, const void* from, std::size_t bytes,
                                         Stream* stream) {
  OHM_CONTEXT_CALL;
  return copy_on(stream, to, from, bytes, Direction::host_to_device);
}

OHM_EXPORTED Status cuMemcpyDtoHAsync_v2(void* to, const void* from, std::size_t bytes,
                                         Stream* stream) {
  OHM_CONTEXT_CALL;
  return copy_on(stream, to, from, bytes, Direction::device_to_host);
}

OHM_EXPORTED Status cuMemcpyDtoDAsync_v2(void* to, const void* from, std::size_t bytes,
                                         Stream* stream) {
  OHM_CONTEXT_CALL;
  return copy_on(stream, to, from, bytes, Direction::device_to_device);
}

/// Contexts are of GPUs, which have one address space.
OHM_EXPORTED Status cuMemcpyPeerAsync(void* to, Context* to_context, const void* from,
                                      Context* from_context, std::size_t bytes, Stream* stream) {
  OHM_CONTEXT_CALL;
  if (!is_context(to_context) || !is_context(from_context)) return Status::invalid_context;
  return copy_on(stream, to, from, bytes, Direction::device_to_device);
}

OHM_EXPORTED Status cuMemcpyPeer(void* to, Context* to_context, const void* from,
                                 Context* from_context, std::size_t bytes) {
  OHM_CONTEXT_CALL;
  return cuMemcpyPeerAsync(to, to_context, from, from_context, bytes, nullptr);
}

OHM_EXPORTED Status cuMemGetAllocationGranularity(std::size_t* bytes,
                                                  const AllocationProperties* properties,
                                                  int option) {
  OHM_DRIVER_CALL;
  constexpr int kRecommended = 1;
  const bool is_right = bytes != nullptr && is_of_device(properties) && option >= 0;
  if (!is_right || option > kRecommended) return Status::invalid_value;
  *bytes = AddressSpace::kGranuleBytes;
  return Status::success;
}

OHM_EXPORTED Status cuMemAddressReserve(DeviceAddress* address, std::size_t bytes,
                                        std::size_t alignment, DeviceAddress /*wanted*/,
                                        std::uint64_t flags) {
  OHM_CONTEXT_CALL;
  const bool is_aligned = (alignment & (alignment - 1)) == 0;
  if (address == nullptr || flags != 0 || !is_aligned) return Status::invalid_value;
  return gpus().reserve(gpus().current(), bytes, *address);
}

/// All of a range that was reserved.
OHM_EXPORTED Status cuMemAddressFree(DeviceAddress address, std::size_t bytes) {
  OHM_CONTEXT_CALL;
  const auto range = gpus().find(address);
  const bool is_whole = range && range->address == address && range->bytes == bytes;
  return is_whole ? gpus().release_range(address) : Status::invalid_value;
}

OHM_EXPORTED Status cuMemCreate(PhysicalMemory** memory, std::size_t bytes,
                                const AllocationProperties* properties, std::uint64_t flags) {
  OHM_DRIVER_CALL;
  const bool is_right = memory != nullptr && is_of_device(properties) && flags == 0;
  if (!is_right) return Status::invalid_value;
  const Status status = gpus().create(properties->device, bytes, *memory);
  if (status == Status::success) note_growth(bytes);
  return status;
}

OHM_EXPORTED Status cuMemRelease(PhysicalMemory* memory) {
  OHM_DRIVER_CALL;
  return gpus().release(memory);
}

OHM_EXPORTED Status cuMemRetainAllocationHandle(PhysicalMemory** memory, void* pointer) {
  OHM_DRIVER_CALL;
  if (memory == nullptr) return Status::invalid_value;
  return gpus().retain(reinterpret_cast<DeviceAddress>(pointer), *memory);
}

OHM_EXPORTED Status cuMemMap(DeviceAddress address, std::size_t bytes, std::size_t offset,
                             PhysicalMemory* memory, std::uint64_t flags) {
  OHM_DRIVER_CALL;
  // NVIDIA's takes no other offset, either.
  if (flags != 0 || offset != 0) return Status::invalid_value;
  return gpus().map(address, bytes, memory);
}

OHM_EXPORTED Status cuMemSetAccess(DeviceAddress address, std::size_t bytes,
                                   const AccessDescription* descriptions, std::size_t count) {
  OHM_DRIVER_CALL;
  if (descriptions == nullptr || count == 0) return Status::invalid_value;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_right = descriptions[i].location_type == kOnDevice &&
                          (descriptions[i].protection & ~kReadAndWrite) == 0;
    if (!is_right) return Status::invalid_value;
    if (!gpus().has(descriptions[i].device)) return Status::invalid_device;
  }
  const bool is_accessible =
      std::any_of(descriptions, descriptions + count,
                  [](const AccessDescription& one) { return one.protection != 0; });
  return gpus().set_access(address, bytes, is_accessible);
}

OHM_EXPORTED Status cuMemGetAccess(std::uint64_t* protection, const AllocationLocation* location,
                                   DeviceAddress address) {
  OHM_DRIVER_CALL;
  const bool is_right = protection != nullptr && location != nullptr && location->type == kOnDevice;
  if (!is_right) return Status::invalid_value;
  if (!gpus().has(location->device)) return Status::invalid_device;
  const auto is_accessible = gpus().has_access(address);
  if (!is_accessible) return Status::invalid_value;
  *protection = *is_accessible ? kReadAndWrite : 0;
  return Status::success;
}

OHM_EXPORTED Status cuMemUnmap(DeviceAddress address, std::size_t bytes) {
  OHM_DRIVER_CALL;
  return bytes == 0 ? Status::invalid_value : gpus().unmap(address, bytes);
}

OHM_EXPORTED Status cuMemGetAllocationPropertiesFromHandle(AllocationProperties* properties,
                                                           const PhysicalMemory* memory) {
  OHM_DRIVER_CALL;
  const bool is_right = properties != nullptr && gpus().is_physical(memory);
  if (!is_right) return Status::invalid_value;
  *properties = {};
  properties->type = kPinnedAllocation;
  properties->location_type = kOnDevice;
  properties->device = memory->device;
  return Status::success;
}
