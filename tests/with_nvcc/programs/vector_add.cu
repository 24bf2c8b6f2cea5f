// exec: --gpu tiny-64m
// A vector addition with checks, until the card is full.
#include <vector>

#include "check.h"

__global__ void add(const float* a, const float* b, float* sum, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) sum[i] = a[i] + b[i];
}

int main() {
  constexpr int kCount = 1 << 18;
  std::vector<float> host(kCount, 3.0F);
  float *a, *b, *sum;
  const std::size_t before = free_bytes();
  OK(cudaMalloc(&a, kCount * sizeof(float)));
  OK(cudaMalloc(&b, kCount * sizeof(float)));
  OK(cudaMalloc(&sum, kCount * sizeof(float)));
  CHECK(before - free_bytes() >= 3 * kMiB);
  OK(cudaMemcpy(a, host.data(), kCount * sizeof(float), cudaMemcpyHostToDevice));
  add<<<kCount / 256, 256>>>(a, b, sum, kCount);
  OK(cudaGetLastError());
  OK(cudaDeviceSynchronize());
  std::vector<float> back(kCount, 0.0F);
  OK(cudaMemcpy(back.data(), a, kCount * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(back == host);
  add<<<kCount, 2048>>>(a, b, sum, kCount);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  OK(cudaGetLastError());
  void* large = nullptr;
  CHECK(cudaMalloc(&large, 128 * kMiB) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
  for (float* vector : {a, b, sum}) OK(cudaFree(vector));
  CHECK(free_bytes() == before);
  CHECK(cudaFree(a) == cudaErrorInvalidValue);
  return 0;
}
