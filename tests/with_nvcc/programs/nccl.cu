// exec: --gpu tiny-64m,count=2
// links: -lnccl
// A sum over two GPUs of one process.
#include <nccl.h>

#include "check.h"

int main() {
  constexpr int kGpus = 2;
  constexpr int kCount = 256;
  const int devices[kGpus] = {0, 1};
  ncclComm_t communicators[kGpus];
  OK(ncclCommInitAll(communicators, kGpus, devices));
  float* data[kGpus];
  float host[kCount];
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    OK(cudaSetDevice(gpu));
    OK(cudaMalloc(&data[gpu], sizeof(host)));
    for (float& value : host) value = gpu + 1.0F;
    OK(cudaMemcpy(data[gpu], host, sizeof(host), cudaMemcpyHostToDevice));
  }
  OK(ncclGroupStart());
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    OK(ncclAllReduce(data[gpu], data[gpu], kCount, ncclFloat, ncclSum, communicators[gpu], 0));
  }
  OK(ncclGroupEnd());
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    OK(cudaSetDevice(gpu));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(host, data[gpu], sizeof(host), cudaMemcpyDeviceToHost));
    CHECK(host[0] == 3.0F && host[kCount - 1] == 3.0F);
    OK(ncclCommDestroy(communicators[gpu]));
  }
  return 0;
}
