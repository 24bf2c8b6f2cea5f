// exec: --gpu tiny-64m --in-flight 8
// Work that is not complete yet: events, streams that wait for them, and what waits.
#include "check.h"

__global__ void kernel() {}

int main() {
  cudaStream_t first, second;
  cudaEvent_t begin, end, other;
  OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  for (cudaEvent_t* event : {&begin, &end, &other}) OK(cudaEventCreate(event));
  OK(cudaEventRecord(begin, first));
  for (int i = 0; i < 3; ++i) kernel<<<1, 1, 0, first>>>();
  OK(cudaEventRecord(end, first));
  CHECK(cudaEventQuery(begin) == cudaSuccess);
  CHECK(cudaEventQuery(end) == cudaErrorNotReady);
  CHECK(cudaGetLastError() == cudaErrorNotReady);
  CHECK(cudaStreamQuery(first) == cudaErrorNotReady);
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end) == cudaErrorNotReady);
  OK(cudaStreamWaitEvent(second, end, 0));
  for (int i = 0; i < 20; ++i) kernel<<<1, 1, 0, second>>>();
  OK(cudaEventRecord(other, second));
  for (int i = 0; i < 20; ++i) kernel<<<1, 1, 0, second>>>();
  CHECK(cudaEventQuery(other) == cudaErrorNotReady);
  OK(cudaEventSynchronize(end));
  OK(cudaEventQuery(other));
  OK(cudaEventElapsedTime(&milliseconds, begin, end));
  CHECK(cudaStreamQuery(second) == cudaErrorNotReady);
  void* memory = nullptr;
  OK(cudaMalloc(&memory, kMiB));
  OK(cudaFree(memory));
  OK(cudaStreamQuery(second));
  kernel<<<1, 1, 0, second>>>();
  int polls = 0;
  while (cudaStreamQuery(second) == cudaErrorNotReady) ++polls;
  CHECK(polls == 8);
  return 0;
}
