// exec: --gpu tiny-64m
// Managed memory may be more than the card has; what is on the card counts.
#include "check.h"

int main() {
  cudaFree(nullptr);
  const std::size_t before = free_bytes();
  char *first, *second;
  OK(cudaMallocManaged(&first, 256 * kMiB));
  OK(cudaMallocManaged(&second, 16 * kMiB));
  CHECK(free_bytes() == before);
  first[256 * kMiB - 1] = 7;
  cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
  cudaMemLocation host = {cudaMemLocationTypeHost, 0};
  OK(cudaMemPrefetchAsync(second, 16 * kMiB, device, 0, 0));
  CHECK(before - free_bytes() == 16 * kMiB);
  OK(cudaMemPrefetchAsync(second, 16 * kMiB, host, 0, 0));
  CHECK(free_bytes() == before);
  // As much as fits; it leaves again for memory that has to be there.
  OK(cudaMemPrefetchAsync(first, 256 * kMiB, device, 0, 0));
  CHECK(free_bytes() < 2 * kMiB);
  void* memory;
  OK(cudaMalloc(&memory, 32 * kMiB));
  OK(cudaFree(memory));
  CHECK(first[256 * kMiB - 1] == 7);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, first));
  CHECK(attributes.type == cudaMemoryTypeManaged && attributes.hostPointer == first);
  CHECK(cudaMemPrefetchAsync(&memory, 1, device, 0, 0) == cudaErrorInvalidValue);
  OK(cudaFree(first));
  OK(cudaFree(second));
  CHECK(cudaFree(first) == cudaErrorInvalidValue);
  CHECK(free_bytes() == before);
  // A reset gives back what is left.
  OK(cudaMalloc(&memory, 32 * kMiB));
  OK(cudaDeviceReset());
  CHECK(free_bytes() == before);
  CHECK(cudaFree(memory) == cudaErrorInvalidValue);
  return 0;
}
