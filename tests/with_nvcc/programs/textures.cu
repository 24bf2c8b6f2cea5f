// exec: --gpu tiny-64m
// Arrays as memory of the card, copies to and from them, textures and surfaces made of them.
#include <cstdint>
#include <vector>

#include "check.h"

static std::vector<float> numbers(std::size_t count) {
  std::vector<float> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<float>(i);
  return made;
}

static void copy_rows() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  const std::size_t before = free_bytes();
  OK(cudaMallocArray(&array, &format, 1024, 1024));
  CHECK(before - free_bytes() == 4 * kMiB);
  cudaChannelFormatDesc found;
  cudaExtent extent;
  unsigned flags = 7;
  OK(cudaArrayGetInfo(&found, &extent, &flags, array));
  CHECK(found.x == 32 && found.f == cudaChannelFormatKindFloat && flags == 0);
  CHECK(extent.width == 1024 && extent.height == 1024 && extent.depth == 0);
  const std::vector<float> sent = numbers(64 * 8);
  std::vector<float> got(64 * 8);
  constexpr std::size_t kRow = 64 * sizeof(float);
  OK(cudaMemcpy2DToArray(array, 16, 3, sent.data(), kRow, kRow, 8, cudaMemcpyHostToDevice));
  OK(cudaMemcpy2DFromArray(got.data(), kRow, array, 16, 3, kRow, 8, cudaMemcpyDeviceToHost));
  CHECK(got == sent);
  CHECK(cudaMemcpy2DToArray(array, 4096 - 16, 0, sent.data(), kRow, kRow, 1,
                            cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy2DToArray(array, 0, 1020, sent.data(), kRow, kRow, 8, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemcpy2DToArray(array, 0, 0, sent.data(), kRow, kRow, 8, cudaMemcpyDeviceToHost) ==
        cudaErrorInvalidMemcpyDirection);
  OK(cudaFreeArray(array));
  CHECK(cudaFreeArray(array) == cudaErrorInvalidValue);
  CHECK(cudaMemcpy2DFromArray(got.data(), kRow, array, 0, 0, kRow, 8, cudaMemcpyDeviceToHost) ==
        cudaErrorInvalidValue);
  CHECK(free_bytes() == before);
}

static void copy_volumes() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float2>();
  const cudaExtent extent = make_cudaExtent(16, 8, 4);
  cudaArray_t array;
  OK(cudaMalloc3DArray(&array, &format, extent));
  std::vector<float> sent = numbers(2 * 16 * 8 * 4);
  std::vector<float> got(sent.size());
  cudaMemcpy3DParms copied = {};
  copied.srcPtr = make_cudaPitchedPtr(sent.data(), 16 * sizeof(float2), 16, 8);
  copied.dstArray = array;
  copied.extent = extent;
  copied.kind = cudaMemcpyHostToDevice;
  OK(cudaMemcpy3D(&copied));
  cudaPitchedPtr pitched;
  OK(cudaMalloc3D(&pitched, make_cudaExtent(16 * sizeof(float2), 8, 4)));
  copied = {};
  copied.srcArray = array;
  copied.dstPtr = pitched;
  copied.extent = extent;
  copied.kind = cudaMemcpyDeviceToDevice;
  OK(cudaMemcpy3D(&copied));
  copied = {};
  copied.srcPtr = pitched;
  copied.dstPtr = make_cudaPitchedPtr(got.data(), 16 * sizeof(float2), 16, 8);
  copied.extent = make_cudaExtent(16 * sizeof(float2), 8, 4);
  copied.kind = cudaMemcpyDeviceToHost;
  OK(cudaMemcpy3D(&copied));
  CHECK(got == sent);
  copied.srcArray = array;
  CHECK(cudaMemcpy3D(&copied) == cudaErrorInvalidValue);
  OK(cudaFree(pitched.ptr));
  OK(cudaFreeArray(array));
}

static void make_objects() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<uchar4>();
  cudaArray_t plain, writable;
  OK(cudaMallocArray(&plain, &format, 64));
  OK(cudaMallocArray(&writable, &format, 64, 64, cudaArraySurfaceLoadStore));
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = plain;
  cudaTextureDesc settings = {};
  settings.readMode = cudaReadModeNormalizedFloat;
  settings.maxAnisotropy = 4;
  cudaTextureObject_t texture;
  OK(cudaCreateTextureObject(&texture, &resource, &settings, nullptr));
  cudaTextureDesc told = {};
  OK(cudaGetTextureObjectTextureDesc(&told, texture));
  CHECK(told.readMode == cudaReadModeNormalizedFloat && told.maxAnisotropy == 4);
  cudaSurfaceObject_t surface;
  CHECK(cudaCreateSurfaceObject(&surface, &resource) == cudaErrorInvalidValue);
  resource.res.array.array = writable;
  OK(cudaCreateSurfaceObject(&surface, &resource));
  OK(cudaDestroySurfaceObject(surface));
  OK(cudaDestroyTextureObject(texture));
  CHECK(cudaDestroyTextureObject(texture) == cudaErrorInvalidValue);
  float* memory;
  OK(cudaMalloc(&memory, 1024));
  resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = memory;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = 1024;
  OK(cudaCreateTextureObject(&texture, &resource, &settings, nullptr));
  OK(cudaFree(memory));
  CHECK(cudaCreateTextureObject(&texture, &resource, &settings, nullptr) == cudaErrorInvalidValue);
  OK(cudaFreeArray(plain));
  OK(cudaFreeArray(writable));
}

int main() {
  copy_rows();
  copy_volumes();
  make_objects();
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
  CHECK(cudaMallocArray(&array, &format, 8192, 8192) == cudaErrorMemoryAllocation);
  CHECK(cudaMallocArray(&array, &format, 0) == cudaErrorInvalidValue);
  cudaChannelFormatDesc three = format;
  three.w = 0;
  CHECK(cudaMallocArray(&array, &three, 64) == cudaErrorInvalidChannelDescriptor);
  CHECK(cudaMallocArray(&array, &format, 200000) == cudaErrorInvalidValue);
  return 0;
}
