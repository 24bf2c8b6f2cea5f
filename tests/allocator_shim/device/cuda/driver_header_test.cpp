// The declarations of driver_functions.h against those of an installed toolkit.
#include <cuda.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "allocator_shim/device/cuda/driver.h"
#include "allocator_shim/device/cuda/driver_functions.h"
#include "tests/allocator_shim/device/cuda/same_call.h"

namespace ohm::cuda {
namespace {

#define OHM_TEXT(name) #name
#define OHM_EXPANDED_TEXT(name) OHM_TEXT(name)

#define OHM_ROW(member, header_name, symbol, ...)                                           \
  static_assert(SameCall<decltype(DriverFunctions::member), decltype(&header_name)>::value, \
                #header_name " has other parameters");
OHM_FOR_EACH_DRIVER_FUNCTION(OHM_ROW)
#undef OHM_ROW

static_assert(sizeof(ModuleHandle) == sizeof(CUmodule));
static_assert(sizeof(Pointer) == sizeof(CUdeviceptr));
static_assert(sizeof(AllocationProperties) == sizeof(CUmemAllocationProp));
static_assert(offsetof(AllocationProperties, location) == offsetof(CUmemAllocationProp, location));
static_assert(offsetof(AllocationProperties, compression_type) ==
              offsetof(CUmemAllocationProp, allocFlags));
static_assert(sizeof(AccessDescription) == sizeof(CUmemAccessDesc));
static_assert(offsetof(AccessDescription, flags) == offsetof(CUmemAccessDesc, flags));
static_assert(kOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(kDeinitialized == CUDA_ERROR_DEINITIALIZED);
static_assert(kNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(kNotReady == CUDA_ERROR_NOT_READY);
static_assert(kNotFound == CUDA_ERROR_NOT_FOUND);
static_assert(kPeerAccessAlreadyEnabled == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
static_assert(kMultiprocessorCount == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
static_assert(kMaxThreadsPerMultiprocessor == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
static_assert(kComputeCapabilityMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
static_assert(kComputeCapabilityMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
static_assert(kPinnedAllocation == CU_MEM_ALLOCATION_TYPE_PINNED);
static_assert(kDeviceLocation == CU_MEM_LOCATION_TYPE_DEVICE);
static_assert(kReadWriteAccess == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
static_assert(kMinimumGranularity == CU_MEM_ALLOC_GRANULARITY_MINIMUM);
static_assert(kNonBlockingStream == CU_STREAM_NON_BLOCKING);
static_assert(kEventWithoutTiming == CU_EVENT_DISABLE_TIMING);
static_assert(kPortableHostMemory == CU_MEMHOSTALLOC_PORTABLE);

// The header turns names into versioned symbols: those are what has to be looked up.
TEST(CudaDriverHeader, HasTheSymbolsThatAreLookedUp) {
#define OHM_ROW(member, header_name, symbol, ...) \
  EXPECT_STREQ(OHM_EXPANDED_TEXT(header_name), symbol);
  OHM_FOR_EACH_DRIVER_FUNCTION(OHM_ROW)
#undef OHM_ROW
}

TEST(CudaDriverHeader, CallsTheSameErrorsSticky) {
  for (const CUresult sticky :
       {CUDA_ERROR_ECC_UNCORRECTABLE, CUDA_ERROR_NVLINK_UNCORRECTABLE, CUDA_ERROR_ILLEGAL_ADDRESS,
        CUDA_ERROR_LAUNCH_TIMEOUT, CUDA_ERROR_ASSERT, CUDA_ERROR_HARDWARE_STACK_ERROR,
        CUDA_ERROR_ILLEGAL_INSTRUCTION, CUDA_ERROR_MISALIGNED_ADDRESS,
        CUDA_ERROR_INVALID_ADDRESS_SPACE, CUDA_ERROR_INVALID_PC, CUDA_ERROR_LAUNCH_FAILED}) {
    EXPECT_TRUE(is_sticky(sticky)) << sticky;
  }
  for (const CUresult other : {CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_VALUE,
                               CUDA_ERROR_NOT_SUPPORTED, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES}) {
    EXPECT_FALSE(is_sticky(other)) << other;
  }
}

}  // namespace
}  // namespace ohm::cuda
