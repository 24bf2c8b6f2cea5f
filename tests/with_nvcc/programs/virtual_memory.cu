// links: -lcuda
// exec: --gpu tiny-64m,count=2
// Memory without addresses: mappings may not meet, and handles are got back from addresses.
#include <cuda.h>

#include <cstdint>

#include "check.h"

constexpr std::size_t kGranule = 2 * kMiB;

static void mappings() {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUdeviceptr range;
  CUmemGenericAllocationHandle large, small, again;
  OK(cuMemAddressReserve(&range, 8 * kGranule, 0, 0, 0));
  CHECK(cuMemCreate(&large, kGranule + 1, &properties, 0) == CUDA_ERROR_INVALID_VALUE);
  OK(cuMemCreate(&large, 2 * kGranule, &properties, 0));
  OK(cuMemCreate(&small, kGranule, &properties, 0));
  CHECK(cuMemMap(range, 2 * kGranule, kGranule, large, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemMap(range + 512, 2 * kGranule, 0, large, 0) == CUDA_ERROR_INVALID_VALUE);
  OK(cuMemMap(range + kGranule, 2 * kGranule, 0, large, 0));
  CHECK(cuMemMap(range + 2 * kGranule, kGranule, 0, small, 0) == CUDA_ERROR_INVALID_VALUE);
  CHECK(cuMemMap(range, 2 * kGranule, 0, large, 0) == CUDA_ERROR_INVALID_VALUE);
  OK(cuMemMap(range, kGranule, 0, small, 0));
  const CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CHECK(cuMemSetAccess(range, 4 * kGranule, &access, 1) == CUDA_ERROR_INVALID_VALUE);
  OK(cuMemSetAccess(range, 3 * kGranule, &access, 1));

  OK(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(range + kGranule + 100)));
  CHECK(again == large);
  CHECK(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(range + 3 * kGranule)) ==
        CUDA_ERROR_INVALID_VALUE);
  const std::size_t before = free_bytes();
  OK(cuMemUnmap(range, 3 * kGranule));
  OK(cuMemRelease(small));
  OK(cuMemRelease(large));
  CHECK(free_bytes() == before + kGranule);  // one handle of the large one is left
  OK(cuMemRelease(large));
  CHECK(cuMemRelease(large) == CUDA_ERROR_INVALID_VALUE);
  CHECK(free_bytes() == before + 3 * kGranule);
  OK(cuMemAddressFree(range, 8 * kGranule));
}

static void pools() {
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  properties.maxSize = 4 * kMiB;
  cudaMemPool_t pool;
  void *first, *second;
  OK(cudaMemPoolCreate(&pool, &properties));
  OK(cudaMallocFromPoolAsync(&first, 3 * kMiB, pool, 0));
  CHECK(cudaMallocFromPoolAsync(&second, 3 * kMiB, pool, 0) == cudaErrorMemoryAllocation);
  cudaMemLocation other = {cudaMemLocationTypeDevice, 1};
  cudaMemAccessFlags flags;
  OK(cudaMemPoolGetAccess(&flags, pool, &other));
  CHECK(flags == cudaMemAccessFlagsProtNone);
  cudaMemAccessDesc access = {other, cudaMemAccessFlagsProtReadWrite};
  OK(cudaMemPoolSetAccess(pool, &access, 1));
  OK(cudaMemPoolGetAccess(&flags, pool, &other));
  CHECK(flags == cudaMemAccessFlagsProtReadWrite);
  access = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtNone};
  CHECK(cudaMemPoolSetAccess(pool, &access, 1) == cudaErrorInvalidValue);
  access.location.id = 9;
  CHECK(cudaMemPoolSetAccess(pool, &access, 1) == cudaErrorInvalidDevice);
  int descriptor;
  CHECK(cudaMemPoolExportToShareableHandle(&descriptor, pool, cudaMemHandleTypePosixFileDescriptor,
                                           0) == cudaErrorInvalidValue);
  cudaMemPoolPtrExportData data;
  CHECK(cudaMemPoolExportPointer(&data, first) == cudaErrorInvalidValue);
  OK(cudaFreeAsync(first, 0));
  OK(cudaMemPoolDestroy(pool));
}

int main() {
  OK(cudaFree(nullptr));
  mappings();
  pools();
  return 0;
}
