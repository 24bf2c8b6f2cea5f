// exec: --gpu tiny-64m
// Stream-ordered memory: what is freed stays in the pool up to its threshold.
#include <cstdint>

#include "check.h"

static std::uint64_t value(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
  std::uint64_t number = 0;
  OK(cudaMemPoolGetAttribute(pool, attribute, &number));
  return number;
}

int main() {
  cudaStream_t stream;
  cudaMemPool_t pool;
  OK(cudaStreamCreate(&stream));
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  const std::size_t before = free_bytes();
  std::uint64_t threshold = UINT64_MAX;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  CHECK(value(pool, cudaMemPoolAttrReleaseThreshold) == threshold);
  void *first, *second;
  OK(cudaMallocAsync(&first, 8 * kMiB, stream));
  OK(cudaMallocAsync(&second, 4 * kMiB, stream));
  CHECK(value(pool, cudaMemPoolAttrUsedMemCurrent) == 12 * kMiB);
  OK(cudaFreeAsync(first, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(value(pool, cudaMemPoolAttrUsedMemCurrent) == 4 * kMiB);
  CHECK(value(pool, cudaMemPoolAttrReservedMemCurrent) == 12 * kMiB);
  CHECK(value(pool, cudaMemPoolAttrUsedMemHigh) == 12 * kMiB);
  CHECK(before - free_bytes() == 12 * kMiB);
  CHECK(cudaFreeAsync(first, stream) == cudaErrorInvalidValue);
  // The same block again; then a size for which the cache has to go.
  OK(cudaMallocAsync(&first, 8 * kMiB, stream));
  CHECK(value(pool, cudaMemPoolAttrReservedMemCurrent) == 12 * kMiB);
  OK(cudaFreeAsync(first, stream));
  void* large;
  OK(cudaMalloc(&large, before - 5 * kMiB));
  CHECK(value(pool, cudaMemPoolAttrReservedMemCurrent) == 4 * kMiB);
  OK(cudaFree(large));
  OK(cudaFreeAsync(second, stream));
  OK(cudaMemPoolTrimTo(pool, 0));
  CHECK(free_bytes() == before);
  // Without a threshold, memory goes back when work is waited for.
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  cudaMemPool_t own;
  OK(cudaMemPoolCreate(&own, &properties));
  OK(cudaMallocFromPoolAsync(&first, 8 * kMiB, own, stream));
  OK(cudaFreeAsync(first, stream));
  CHECK(value(own, cudaMemPoolAttrReservedMemCurrent) == 8 * kMiB);
  OK(cudaDeviceSynchronize());
  CHECK(value(own, cudaMemPoolAttrReservedMemCurrent) == 0);
  CHECK(cudaMallocFromPoolAsync(&first, 128 * kMiB, own, stream) == cudaErrorMemoryAllocation);
  OK(cudaMemPoolDestroy(own));
  CHECK(cudaMemPoolDestroy(own) == cudaErrorInvalidValue);
  OK(cudaStreamDestroy(stream));
  return 0;
}
