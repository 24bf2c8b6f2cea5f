// exec: --gpu tiny-64m
// exits: 14
// Times between events; the program ends with an error of the runtime.
#include "check.h"

__global__ void kernel() {}

int main() {
  cudaEvent_t begin, end;
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
  OK(cudaEventRecord(begin));
  for (int i = 0; i < 100; ++i) kernel<<<16, 64>>>();
  OK(cudaEventRecord(end));
  OK(cudaEventSynchronize(end));
  CHECK(cudaEventQuery(begin) == cudaSuccess);
  float milliseconds = 0;
  OK(cudaEventElapsedTime(&milliseconds, begin, end));
  CHECK(milliseconds > 0);
  OK(cudaEventDestroy(begin));
  OK(cudaEventDestroy(end));
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, 65 * kMiB);
  return status == cudaErrorMemoryAllocation ? 14 : 1;
}
