// exec: --gpu tiny-64m,count=2
// Each GPU has memory of its own, and copies go from one to the other.
#include <cstring>

#include "check.h"

int main() {
  int count = 0;
  OK(cudaGetDeviceCount(&count));
  CHECK(count == 2);
  char* memory[2];
  for (int device = 0; device < count; ++device) {
    OK(cudaSetDevice(device));
    OK(cudaMalloc(&memory[device], 40 * kMiB));
    void* more;
    CHECK(cudaMalloc(&more, 40 * kMiB) == cudaErrorMemoryAllocation);
  }
  int can = 0;
  OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  CHECK(can == 1);
  OK(cudaSetDevice(0));
  OK(cudaDeviceEnablePeerAccess(1, 0));
  char sent[100], received[100] = {};
  std::memset(sent, 5, sizeof(sent));
  OK(cudaMemcpy(memory[0], sent, sizeof(sent), cudaMemcpyHostToDevice));
  OK(cudaMemcpyPeer(memory[1], 1, memory[0], 0, sizeof(sent)));
  OK(cudaMemcpy(received, memory[1], sizeof(sent), cudaMemcpyDeviceToHost));
  CHECK(std::memcmp(sent, received, sizeof(sent)) == 0);
  cudaPointerAttributes attributes;
  OK(cudaPointerGetAttributes(&attributes, memory[1]));
  CHECK(attributes.device == 1 && attributes.type == cudaMemoryTypeDevice);
  CHECK(cudaMemcpyPeer(memory[1], 2, memory[0], 0, 1) == cudaErrorInvalidDevice);
  for (char* one : memory) OK(cudaFree(one));
  return 0;
}
