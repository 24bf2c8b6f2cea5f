// exec: --gpu tiny-64m
// Small requests share granules of 2 MiB; pools serve requests of any size from what they hold.
#include <cstdint>
#include <vector>

#include "check.h"

static std::uint64_t reserved(cudaMemPool_t pool) {
  std::uint64_t bytes = 0;
  OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &bytes));
  return bytes;
}

int main() {
  const std::size_t before = free_bytes();
  std::vector<char*> blocks(4096);
  for (char*& block : blocks) OK(cudaMalloc(&block, 100));
  CHECK(blocks[1] - blocks[0] == 512);
  CHECK(before - free_bytes() == 2 * kMiB);
  OK(cudaMemset(blocks[7], 1, 100));
  CHECK(cudaMemset(blocks[7], 1, 101) == cudaErrorInvalidValue);
  OK(cudaFree(blocks[7]));
  CHECK(cudaFree(blocks[7]) == cudaErrorInvalidValue);
  OK(cudaMalloc(&blocks[7], 500));
  CHECK(blocks[7] - blocks[0] == 7 * 512);
  for (char* block : blocks) OK(cudaFree(block));
  CHECK(free_bytes() == before);

  cudaMemPool_t pool;
  OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t threshold = UINT64_MAX;
  OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
  void *whole, *parts[4];
  OK(cudaMallocAsync(&whole, 32 * kMiB, 0));
  OK(cudaFreeAsync(whole, 0));
  for (void*& part : parts) OK(cudaMallocAsync(&part, 8 * kMiB, 0));
  CHECK(reserved(pool) == 32 * kMiB && before - free_bytes() == 32 * kMiB);
  for (void* part : parts) OK(cudaFreeAsync(part, 0));
  OK(cudaMallocAsync(&whole, 32 * kMiB, 0));
  CHECK(reserved(pool) == 32 * kMiB);
  OK(cudaFreeAsync(whole, 0));
  OK(cudaMemPoolTrimTo(pool, 0));
  CHECK(free_bytes() == before);

  // A pool that is destroyed lives until its last block is freed.
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  OK(cudaMemPoolCreate(&pool, &properties));
  OK(cudaMallocFromPoolAsync(&whole, 8 * kMiB, pool, 0));
  OK(cudaMemPoolDestroy(pool));
  CHECK(cudaMemPoolTrimTo(pool, 0) == cudaErrorInvalidValue);
  CHECK(before - free_bytes() == 8 * kMiB);
  OK(cudaFreeAsync(whole, 0));
  CHECK(free_bytes() == before);
  return 0;
}
