// The functions of NVIDIA's driver that ohm calls, as its binary interface has them.
//
// Declared here and not taken from a toolkit's header, so that every build can talk to a driver
// where there is one; a test compares with the header where a toolkit is installed. The suffixes
// (_v2) are the interface's versions: a symbol never changes its meaning.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ohm::cuda {

using Result = int;  ///< CUresult: 0 is success
using DeviceHandle = int;
using Pointer = unsigned long long;           ///< CUdeviceptr
using AllocationHandle = unsigned long long;  ///< CUmemGenericAllocationHandle
using ContextHandle = struct OpaqueContext*;
using StreamHandle = struct OpaqueStream*;
using EventHandle = struct OpaqueEvent*;
using ModuleHandle = struct OpaqueModule*;
using FunctionHandle = struct OpaqueFunction*;

struct MemoryLocation {
  int type = 0;
  int id = 0;
};

struct AllocationProperties {
  int type = 0;
  int requested_handle_types = 0;
  MemoryLocation location;
  void* win32_metadata = nullptr;
  std::uint8_t compression_type = 0;
  std::uint8_t gpu_direct_rdma_capable = 0;
  std::uint16_t usage = 0;
  std::uint32_t reserved = 0;
};

struct AccessDescription {
  MemoryLocation location;
  int flags = 0;
};

// Answers that are not defects, or that say what is missing.
inline constexpr Result kSuccess = 0;
inline constexpr Result kOutOfMemory = 2;
inline constexpr Result kDeinitialized = 4;
inline constexpr Result kNoDevice = 100;
inline constexpr Result kNotFound = 500;
inline constexpr Result kNotReady = 600;
inline constexpr Result kPeerAccessAlreadyEnabled = 704;

// Values of the interface's enumerations and flags.
inline constexpr int kMultiprocessorCount = 16;  // CUdevice_attribute
inline constexpr int kMaxThreadsPerMultiprocessor = 39;
inline constexpr int kComputeCapabilityMajor = 75;
inline constexpr int kComputeCapabilityMinor = 76;
inline constexpr int kPinnedAllocation = 1;    // CUmemAllocationType
inline constexpr int kDeviceLocation = 1;      // CUmemLocationType
inline constexpr int kReadWriteAccess = 3;     // CUmemAccess_flags
inline constexpr int kMinimumGranularity = 0;  // CUmemAllocationGranularity_flags
inline constexpr unsigned kNonBlockingStream = 1;
inline constexpr unsigned kEventWithoutTiming = 2;
inline constexpr unsigned kPortableHostMemory = 1;

// ROW(name here, name in the header, symbol, parameters...)
#define OHM_FOR_EACH_DRIVER_FUNCTION(ROW)                                                          \
  ROW(init, cuInit, "cuInit", unsigned)                                                            \
  ROW(driver_version, cuDriverGetVersion, "cuDriverGetVersion", int*)                              \
  ROW(error_name, cuGetErrorName, "cuGetErrorName", Result, const char**)                          \
  ROW(error_text, cuGetErrorString, "cuGetErrorString", Result, const char**)                      \
  ROW(device_count, cuDeviceGetCount, "cuDeviceGetCount", int*)                                    \
  ROW(device_get, cuDeviceGet, "cuDeviceGet", DeviceHandle*, int)                                  \
  ROW(device_name, cuDeviceGetName, "cuDeviceGetName", char*, int, DeviceHandle)                   \
  ROW(device_attribute, cuDeviceGetAttribute, "cuDeviceGetAttribute", int*, int, DeviceHandle)     \
  ROW(device_total_memory, cuDeviceTotalMem, "cuDeviceTotalMem_v2", std::size_t*, DeviceHandle)    \
  ROW(device_pci_bus_id, cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId", char*, int, DeviceHandle)     \
  ROW(context_retain, cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", ContextHandle*,        \
      DeviceHandle)                                                                                \
  ROW(context_release, cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", DeviceHandle)    \
  ROW(context_set_current, cuCtxSetCurrent, "cuCtxSetCurrent", ContextHandle)                      \
  ROW(context_synchronize, cuCtxSynchronize, "cuCtxSynchronize", void)                             \
  ROW(peer_can_access, cuDeviceCanAccessPeer, "cuDeviceCanAccessPeer", int*, DeviceHandle,         \
      DeviceHandle)                                                                                \
  ROW(peer_enable_access, cuCtxEnablePeerAccess, "cuCtxEnablePeerAccess", ContextHandle, unsigned) \
  ROW(memory_info, cuMemGetInfo, "cuMemGetInfo_v2", std::size_t*, std::size_t*)                    \
  ROW(memory_allocate, cuMemAlloc, "cuMemAlloc_v2", Pointer*, std::size_t)                         \
  ROW(memory_free, cuMemFree, "cuMemFree_v2", Pointer)                                             \
  ROW(address_reserve, cuMemAddressReserve, "cuMemAddressReserve", Pointer*, std::size_t,          \
      std::size_t, Pointer, unsigned long long)                                                    \
  ROW(address_free, cuMemAddressFree, "cuMemAddressFree", Pointer, std::size_t)                    \
  ROW(chunk_create, cuMemCreate, "cuMemCreate", AllocationHandle*, std::size_t,                    \
      const AllocationProperties*, unsigned long long)                                             \
  ROW(chunk_release, cuMemRelease, "cuMemRelease", AllocationHandle)                               \
  ROW(chunk_map, cuMemMap, "cuMemMap", Pointer, std::size_t, std::size_t, AllocationHandle,        \
      unsigned long long)                                                                          \
  ROW(chunk_unmap, cuMemUnmap, "cuMemUnmap", Pointer, std::size_t)                                 \
  ROW(chunk_set_access, cuMemSetAccess, "cuMemSetAccess", Pointer, std::size_t,                    \
      const AccessDescription*, std::size_t)                                                       \
  ROW(chunk_granularity, cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity",           \
      std::size_t*, const AllocationProperties*, int)                                              \
  ROW(host_allocate, cuMemHostAlloc, "cuMemHostAlloc", void**, std::size_t, unsigned)              \
  ROW(host_free, cuMemFreeHost, "cuMemFreeHost", void*)                                            \
  ROW(stream_create, cuStreamCreate, "cuStreamCreate", StreamHandle*, unsigned)                    \
  ROW(stream_destroy, cuStreamDestroy, "cuStreamDestroy_v2", StreamHandle)                         \
  ROW(stream_synchronize, cuStreamSynchronize, "cuStreamSynchronize", StreamHandle)                \
  ROW(stream_wait_event, cuStreamWaitEvent, "cuStreamWaitEvent", StreamHandle, EventHandle,        \
      unsigned)                                                                                    \
  ROW(event_create, cuEventCreate, "cuEventCreate", EventHandle*, unsigned)                        \
  ROW(event_destroy, cuEventDestroy, "cuEventDestroy_v2", EventHandle)                             \
  ROW(event_record, cuEventRecord, "cuEventRecord", EventHandle, StreamHandle)                     \
  ROW(event_query, cuEventQuery, "cuEventQuery", EventHandle)                                      \
  ROW(event_synchronize, cuEventSynchronize, "cuEventSynchronize", EventHandle)                    \
  ROW(copy_to_device, cuMemcpyHtoD, "cuMemcpyHtoD_v2", Pointer, const void*, std::size_t)          \
  ROW(copy_from_device, cuMemcpyDtoH, "cuMemcpyDtoH_v2", void*, Pointer, std::size_t)              \
  ROW(copy_on_device, cuMemcpyDtoD, "cuMemcpyDtoD_v2", Pointer, Pointer, std::size_t)              \
  ROW(copy_to_peer, cuMemcpyPeer, "cuMemcpyPeer", Pointer, ContextHandle, Pointer, ContextHandle,  \
      std::size_t)                                                                                 \
  ROW(set_bytes, cuMemsetD8, "cuMemsetD8_v2", Pointer, unsigned char, std::size_t)                 \
  ROW(set_halves, cuMemsetD16, "cuMemsetD16_v2", Pointer, unsigned short, std::size_t)             \
  ROW(set_words, cuMemsetD32, "cuMemsetD32_v2", Pointer, unsigned, std::size_t)                    \
  ROW(module_load, cuModuleLoadData, "cuModuleLoadData", ModuleHandle*, const void*)               \
  ROW(module_unload, cuModuleUnload, "cuModuleUnload", ModuleHandle)                               \
  ROW(module_function, cuModuleGetFunction, "cuModuleGetFunction", FunctionHandle*, ModuleHandle,  \
      const char*)                                                                                 \
  ROW(launch, cuLaunchKernel, "cuLaunchKernel", FunctionHandle, unsigned, unsigned, unsigned,      \
      unsigned, unsigned, unsigned, unsigned, StreamHandle, void**, void**)

/// One pointer for each function, by the name here.
struct DriverFunctions {
#define OHM_ROW(member, header_name, symbol, ...) Result (*member)(__VA_ARGS__) = nullptr;
  OHM_FOR_EACH_DRIVER_FUNCTION(OHM_ROW)
#undef OHM_ROW
};

}  // namespace ohm::cuda
