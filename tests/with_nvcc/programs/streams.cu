// exec: --gpu tiny-64m
// Copies and kernels on streams, callbacks, priorities.
#include <cstring>

#include "check.h"

__global__ void kernel(char*) {}

static int calls = 0;
static void note(void* data) { calls += *static_cast<int*>(data); }

int main() {
  int least, greatest;
  OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  CHECK(greatest < least);
  cudaStream_t first, second;
  OK(cudaStreamCreateWithPriority(&first, cudaStreamNonBlocking, greatest));
  OK(cudaStreamCreate(&second));
  int priority;
  unsigned flags;
  OK(cudaStreamGetPriority(first, &priority));
  OK(cudaStreamGetFlags(first, &flags));
  CHECK(priority == greatest && flags == cudaStreamNonBlocking);
  char *host, *device;
  OK(cudaMallocHost(&host, kMiB));
  OK(cudaMalloc(&device, kMiB));
  std::memset(host, 3, kMiB);
  OK(cudaMemcpyAsync(device, host, kMiB, cudaMemcpyHostToDevice, first));
  kernel<<<8, 128, 1024, first>>>(device);
  OK(cudaMemsetAsync(device, 4, 10, first));
  cudaEvent_t done;
  OK(cudaEventCreate(&done));
  OK(cudaEventRecord(done, first));
  OK(cudaStreamWaitEvent(second, done, 0));
  OK(cudaMemcpyAsync(host, device, kMiB, cudaMemcpyDeviceToHost, second));
  int one = 1;
  OK(cudaLaunchHostFunc(second, note, &one));
  OK(cudaStreamSynchronize(second));
  CHECK(cudaStreamQuery(first) == cudaSuccess);
  CHECK(calls == 1 && host[0] == 4 && host[10] == 3 && host[kMiB - 1] == 3);
  OK(cudaEventDestroy(done));
  OK(cudaStreamDestroy(first));
  OK(cudaStreamDestroy(second));
  OK(cudaFree(device));
  OK(cudaFreeHost(host));
  return 0;
}
