// CUDA's driver: memory, and the virtual-memory calls that expandable segments are made of.
#include <array>
#include <cstdint>

#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/driver_state.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/status.h"

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

// Numbers of CUpointer_attribute and CUmemorytype.
constexpr int kContextAttribute = 1;
constexpr int kMemoryTypeAttribute = 2;
constexpr int kDevicePointerAttribute = 3;
constexpr int kHostPointerAttribute = 4;
constexpr int kDeviceOrdinalAttribute = 9;
constexpr int kRangeStartAttribute = 11;
constexpr int kRangeSizeAttribute = 12;
constexpr unsigned kHostMemory = 1;
constexpr unsigned kDeviceMemory = 2;

template <typename Value>
void write(void* to, Value value) {
  *static_cast<Value*>(to) = value;
}

}  // namespace

OHM_EXPORTED Status cuMemAlloc_v2(DeviceAddress* address, std::size_t bytes) {
  OHM_NEEDS_CUINIT;
  return bytes == 0 ? Status::invalid_value : gpus().allocate(gpus().current(), bytes, *address);
}

OHM_EXPORTED Status cuMemFree_v2(DeviceAddress address) {
  OHM_NEEDS_CUINIT;
  return gpus().free(address);
}

OHM_EXPORTED Status cuMemAllocAsync(DeviceAddress* address, std::size_t bytes, void* /*stream*/) {
  return cuMemAlloc_v2(address, bytes);
}

OHM_EXPORTED Status cuMemFreeAsync(DeviceAddress address, void* /*stream*/) {
  OHM_NEEDS_CUINIT;
  return gpus().free(address);
}

OHM_EXPORTED Status cuMemAllocManaged(DeviceAddress* address, std::size_t bytes,
                                      unsigned /*flags*/) {
  return cuMemAlloc_v2(address, bytes);
}

OHM_EXPORTED Status cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  OHM_NEEDS_CUINIT;
  return cudaHostAlloc(pointer, bytes, flags);
}

OHM_EXPORTED Status cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
  OHM_NEEDS_CUINIT;
  return cudaHostAlloc(pointer, bytes, 0);
}

OHM_EXPORTED Status cuMemFreeHost(void* pointer) {
  OHM_NEEDS_CUINIT;
  return cudaFreeHost(pointer);
}

OHM_EXPORTED Status cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned flags) {
  OHM_NEEDS_CUINIT;
  return cudaHostRegister(pointer, bytes, flags);
}

OHM_EXPORTED Status cuMemHostUnregister(void* pointer) {
  OHM_NEEDS_CUINIT;
  return cudaHostUnregister(pointer);
}

OHM_EXPORTED Status cuMemHostGetDevicePointer_v2(void** device, void* host, unsigned flags) {
  OHM_NEEDS_CUINIT;
  return cudaHostGetDevicePointer(device, host, flags);
}

OHM_EXPORTED Status cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  OHM_NEEDS_CUINIT;
  if (!gpus().has(gpus().current())) return Status::no_device;
  const DeviceMemoryInfo info = gpus().info(gpus().current());
  *free_bytes = info.free_bytes;
  *total_bytes = info.total_bytes;
  return Status::success;
}

OHM_EXPORTED Status cuMemGetAddressRange_v2(DeviceAddress* base, std::size_t* bytes,
                                            DeviceAddress address) {
  OHM_NEEDS_CUINIT;
  const auto range = gpus().find(address);
  if (!range) return Status::invalid_value;
  if (base != nullptr) *base = range->address;
  if (bytes != nullptr) *bytes = range->bytes;
  return Status::success;
}

OHM_EXPORTED Status cuPointerGetAttribute(void* value, int attribute, DeviceAddress address) {
  OHM_NEEDS_CUINIT;
  const auto range = gpus().find(address);
  const bool is_pinned = !range && gpus().is_pinned(reinterpret_cast<const void*>(address));
  if (!range && !is_pinned) return Status::invalid_value;
  const int device = range ? range->device : gpus().current();
  switch (attribute) {
    case kContextAttribute:
      write<std::uintptr_t>(value, static_cast<std::uintptr_t>(device) + 1);
      return Status::success;
    case kMemoryTypeAttribute:
      write<unsigned>(value, range ? kDeviceMemory : kHostMemory);
      return Status::success;
    case kDevicePointerAttribute:
      write<DeviceAddress>(value, address);
      return Status::success;
    case kHostPointerAttribute:
      write<DeviceAddress>(value, range ? 0 : address);
      return range ? Status::invalid_value : Status::success;
    case kDeviceOrdinalAttribute:
      write<int>(value, device);
      return Status::success;
    case kRangeStartAttribute:
      write<DeviceAddress>(value, range ? range->address : address);
      return Status::success;
    case kRangeSizeAttribute:
      write<std::size_t>(value, range ? range->bytes : 0);
      return Status::success;
    default:
      return Status::not_supported;
  }
}

OHM_EXPORTED Status cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                                           DeviceAddress address) {
  OHM_NEEDS_CUINIT;
  for (unsigned i = 0; i < count; ++i) cuPointerGetAttribute(values[i], attributes[i], address);
  return Status::success;
}

OHM_EXPORTED Status cuMemcpy(void* to, const void* from, std::size_t bytes) {
  OHM_NEEDS_CUINIT;
  return copy(to, from, bytes);
}

OHM_EXPORTED Status cuMemcpyAsync(void* to, const void* from, std::size_t bytes, Stream* stream) {
  OHM_NEEDS_CUINIT;
  return on_stream(stream, [&] { return copy(to, from, bytes); });
}

OHM_EXPORTED Status cuMemcpyHtoD_v2(void* to, const void* from, std::size_t bytes) {
  OHM_NEEDS_CUINIT;
  return copy(to, from, bytes);
}

OHM_EXPORTED Status cuMemcpyDtoH_v2(void* to, const void* from, std::size_t bytes) {
  OHM_NEEDS_CUINIT;
  return copy(to, from, bytes);
}

OHM_EXPORTED Status cuMemcpyDtoD_v2(void* to, const void* from, std::size_t bytes) {
  OHM_NEEDS_CUINIT;
  return copy(to, from, bytes);
}

OHM_EXPORTED Status cuMemcpyHtoDAsync_v2(void* to, const void* from, std::size_t bytes,
                                         Stream* stream) {
  OHM_NEEDS_CUINIT;
  return on_stream(stream, [&] { return copy(to, from, bytes); });
}

OHM_EXPORTED Status cuMemcpyDtoHAsync_v2(void* to, const void* from, std::size_t bytes,
                                         Stream* stream) {
  OHM_NEEDS_CUINIT;
  return on_stream(stream, [&] { return copy(to, from, bytes); });
}

OHM_EXPORTED Status cuMemcpyDtoDAsync_v2(void* to, const void* from, std::size_t bytes,
                                         Stream* stream) {
  OHM_NEEDS_CUINIT;
  return on_stream(stream, [&] { return copy(to, from, bytes); });
}

OHM_EXPORTED Status cuMemsetD8_v2(void* to, unsigned char value, std::size_t count) {
  OHM_NEEDS_CUINIT;
  return fill(to, value, count);
}

OHM_EXPORTED Status cuMemsetD8Async(void* to, unsigned char value, std::size_t count,
                                    Stream* stream) {
  OHM_NEEDS_CUINIT;
  return on_stream(stream, [&] { return fill(to, value, count); });
}

OHM_EXPORTED Status cuMemsetD32_v2(unsigned* to, unsigned value, std::size_t count) {
  OHM_NEEDS_CUINIT;
  return fill_words(to, value, count);
}

OHM_EXPORTED Status cuMemsetD32Async(unsigned* to, unsigned value, std::size_t count,
                                     Stream* stream) {
  OHM_NEEDS_CUINIT;
  return on_stream(stream, [&] { return fill_words(to, value, count); });
}

OHM_EXPORTED Status cuStreamWriteValue32_v2(void* /*stream*/, unsigned* to, unsigned value,
                                            unsigned /*flags*/) {
  OHM_NEEDS_CUINIT;
  return copy(to, &value, sizeof(value));
}

/// As libraries that look for it with dlsym name it.
OHM_EXPORTED Status cuStreamWriteValue32(void* stream, unsigned* to, unsigned value,
                                         unsigned flags) {
  return cuStreamWriteValue32_v2(stream, to, value, flags);
}

OHM_EXPORTED Status cuMemGetAllocationGranularity(std::size_t* bytes,
                                                  const AllocationProperties* /*properties*/,
                                                  int /*option*/) {
  OHM_NEEDS_CUINIT;
  *bytes = AddressSpace::kGranuleBytes;
  return Status::success;
}

OHM_EXPORTED Status cuMemAddressReserve(DeviceAddress* address, std::size_t bytes,
                                        std::size_t /*alignment*/, DeviceAddress /*wanted*/,
                                        std::uint64_t /*flags*/) {
  OHM_NEEDS_CUINIT;
  return gpus().reserve(gpus().current(), bytes, *address);
}

OHM_EXPORTED Status cuMemAddressFree(DeviceAddress address, std::size_t /*bytes*/) {
  OHM_NEEDS_CUINIT;
  return gpus().release_range(address);
}

OHM_EXPORTED Status cuMemCreate(PhysicalMemory** memory, std::size_t bytes,
                                const AllocationProperties* properties, std::uint64_t /*flags*/) {
  OHM_NEEDS_CUINIT;
  return gpus().create(properties->device, bytes, *memory);
}

OHM_EXPORTED Status cuMemRelease(PhysicalMemory* memory) {
  OHM_NEEDS_CUINIT;
  return gpus().release(memory);
}

OHM_EXPORTED Status cuMemMap(DeviceAddress address, std::size_t bytes, std::size_t offset,
                             PhysicalMemory* memory, std::uint64_t /*flags*/) {
  OHM_NEEDS_CUINIT;
  return offset == 0 ? gpus().map(address, bytes, memory) : Status::not_supported;
}

OHM_EXPORTED Status cuMemUnmap(DeviceAddress address, std::size_t bytes) {
  OHM_NEEDS_CUINIT;
  return gpus().unmap(address, bytes);
}

OHM_EXPORTED Status cuMemGetAllocationPropertiesFromHandle(AllocationProperties* properties,
                                                           const PhysicalMemory* memory) {
  OHM_NEEDS_CUINIT;
  constexpr int kPinned = 1;
  constexpr int kOnDevice = 1;
  *properties = {};
  properties->type = kPinned;
  properties->location_type = kOnDevice;
  properties->device = memory->device;
  return Status::success;
}
