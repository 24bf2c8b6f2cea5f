// exec: --gpu tiny-64m,count=2
// links: --default-stream=per-thread
// Functions that nvcc calls by other names where each thread has a default stream, and what the
// runtime tells of streams, arrays, variables and devices.
#include <cstring>

#include "check.h"

__global__ void kernel() {}
__device__ int variable[4];

static void streams() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  cudaStreamAttrValue set = {}, told = {};
  OK(cudaStreamGetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &told));
  CHECK(told.syncPolicy == cudaSyncPolicyAuto);
  set.syncPolicy = cudaSyncPolicyYield;
  OK(cudaStreamSetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &set));
  OK(cudaStreamGetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &told));
  CHECK(told.syncPolicy == cudaSyncPolicyYield);
  kernel<<<1, 1>>>();
  OK(cudaGetLastError());
  OK(cudaStreamSynchronize(0));
  OK(cudaStreamDestroy(stream));
}

static void arrays() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
  cudaMipmappedArray_t array;
  cudaArray_t level;
  cudaExtent extent;
  OK(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(64, 32, 0), 99));
  OK(cudaGetMipmappedArrayLevel(&level, array, 3));
  OK(cudaArrayGetInfo(nullptr, &extent, nullptr, level));
  CHECK(extent.width == 8 && extent.height == 4 && extent.depth == 0);
  OK(cudaGetMipmappedArrayLevel(&level, array, 6));
  CHECK(cudaGetMipmappedArrayLevel(&level, array, 7) == cudaErrorInvalidValue);
  OK(cudaFreeMipmappedArray(array));
  CHECK(cudaFreeMipmappedArray(array) == cudaErrorInvalidValue);
}

static void memory() {
  void* address = nullptr;
  cudaPointerAttributes attributes;
  OK(cudaGetSymbolAddress(&address, variable));
  OK(cudaPointerGetAttributes(&attributes, address));
  CHECK(attributes.type == cudaMemoryTypeDevice && attributes.hostPointer == nullptr);
  // A copy of rows that ends beyond memory writes nothing.
  char host[4] = {1, 1, 1, 1}, back = 1;
  OK(cudaMalloc(&address, 512));
  OK(cudaMemset(address, 0, 512));
  CHECK(cudaMemcpy2D(address, 256, host, 1, 1, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  OK(cudaMemcpy(&back, address, 1, cudaMemcpyDeviceToHost));
  CHECK(back == 0);
  OK(cudaFree(address));
}

static void devices() {
  cudaDeviceProp properties;
  int device = -1;
  OK(cudaGetDeviceProperties(&properties, 1));
  CHECK(properties.maxTexture1D == 131072 && properties.maxSurfaceCubemapLayered[1] == 2046);
  OK(cudaChooseDevice(&device, &properties));
  CHECK(device == 0);
  int valid[] = {1, 0};
  OK(cudaSetValidDevices(valid, 2));
  OK(cudaGetDevice(&device));
  CHECK(device == 1);
  CHECK(cudaSetValidDevices(valid, 3) == cudaErrorInvalidValue);
}

int main() {
  streams();
  arrays();
  memory();
  devices();
  return 0;
}
