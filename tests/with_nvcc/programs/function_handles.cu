// exec: --gpu tiny-64m
// links: -lcuda
// A kernel of the program by its symbol, and its handle in calls of the driver, as XLA uses it.
#include <cuda.h>

#include "check.h"

__global__ void kernel(float*) {}
__global__ void other(float*) {}

int main() {
  float* memory;
  OK(cudaMalloc(&memory, kMiB));
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, kernel));
  CHECK(attributes.maxThreadsPerBlock == 1024);
  cudaFunction_t function;
  OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(kernel)));
  cudaFunction_t second;
  OK(cudaGetFuncBySymbol(&second, reinterpret_cast<const void*>(other)));
  CHECK(function != second);
  int threads = 0;
  OK(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  CHECK(threads == 1024);
  int blocks = 0;
  OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 256, 0));
  CHECK(blocks > 0);
  void* arguments[] = {&memory};
  OK(cuLaunchKernel(function, 8, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuLaunchKernel(function, 8, 1, 1, 2048, 1, 1, 0, nullptr, arguments, nullptr) ==
        CUDA_ERROR_INVALID_VALUE);
  CHECK(cudaGetFuncBySymbol(&function, &memory) == cudaErrorInvalidDeviceFunction);
  cudaGetLastError();
  OK(cudaDeviceSynchronize());
  OK(cudaFree(memory));
  return 0;
}
