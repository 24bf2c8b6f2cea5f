// links: -lcuda
// exec: --gpu tiny-64m
// Calls of the driver that are wrong, and what comes of contexts.
#include <cuda.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

static int failures = 0;

#define IS(expected, call)                                                          \
  do {                                                                              \
    const CUresult status = (call);                                                 \
    const char* name = "?";                                                         \
    cuGetErrorName(status, &name);                                                  \
    if (std::strcmp(name, #expected) != 0) {                                        \
      std::printf("%d: %s returns %s, not %s\n", __LINE__, #call, name, #expected); \
      ++failures;                                                                   \
    }                                                                               \
  } while (false)

static const char kPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n// a kernel\n.visible .entry one(){ret;}\n";

static void contexts() {
  int count = 0;
  CUdeviceptr address = 0;
  CUcontext first, second, current;
  IS(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGetCount(&count));
  IS(CUDA_ERROR_INVALID_VALUE, cuInit(1));
  IS(CUDA_SUCCESS, cuInit(0));
  IS(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&address, 1));
  IS(CUDA_ERROR_INVALID_DEVICE, cuCtxCreate(&first, nullptr, 0, 7));
  IS(CUDA_SUCCESS, cuCtxCreate(&first, nullptr, 0, 0));
  IS(CUDA_SUCCESS, cuMemAlloc(&address, 48 << 20));
  IS(CUDA_SUCCESS, cuCtxCreate(&second, nullptr, 0, 0));
  IS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&address, 48 << 20));
  IS(CUDA_SUCCESS, cuCtxDestroy(first));
  IS(CUDA_ERROR_INVALID_CONTEXT, cuCtxSetCurrent(first));
  IS(CUDA_SUCCESS, cuMemAlloc(&address, 48 << 20));
  IS(CUDA_SUCCESS, cuCtxPopCurrent(&current));
  if (current != second) ++failures;
  IS(CUDA_ERROR_INVALID_CONTEXT, cuMemFree(address));
  IS(CUDA_SUCCESS, cuCtxPushCurrent(second));
  IS(CUDA_SUCCESS, cuCtxDestroy(second));
  IS(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(second));
  IS(CUDA_ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(0));
  IS(CUDA_SUCCESS, cuDevicePrimaryCtxRetain(&first, 0));
  IS(CUDA_SUCCESS, cuCtxSetCurrent(first));
}

static void memory() {
  CUdeviceptr address = 0;
  std::size_t pitch = 0;
  char host[16] = {};
  IS(CUDA_ERROR_INVALID_VALUE, cuMemAlloc(&address, 0));
  IS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAlloc(&address, SIZE_MAX));
  IS(CUDA_ERROR_INVALID_VALUE, cuMemAllocPitch(&address, &pitch, 100, 100, 3));
  IS(CUDA_ERROR_OUT_OF_MEMORY,
     cuMemAllocPitch(&address, &pitch, std::size_t{1} << 33, std::size_t{1} << 31, 4));
  IS(CUDA_ERROR_INVALID_VALUE, cuMemFree(0xdeadbeef));
  IS(CUDA_SUCCESS, cuMemAllocPitch(&address, &pitch, 100, 100, 4));
  if (pitch != 512) ++failures;
  IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(address + pitch * 100, host, 1));
  IS(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(host), host, 1));
  IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(address + 1, 1, 4));
  IS(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(address, 1, std::size_t{1} << 62));
  IS(CUDA_SUCCESS, cuMemFree(address));
  IS(CUDA_ERROR_INVALID_VALUE, cuMemFree(address));
  IS(CUDA_ERROR_INVALID_VALUE, cuMemAddressReserve(&address, 1, 0, 0, 0));
  IS(CUDA_ERROR_OUT_OF_MEMORY, cuMemAddressReserve(&address, std::size_t{1} << 60, 0, 0, 0));
}

static void modules() {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  static char garbage[4096];
  std::memset(garbage, 'z', sizeof(garbage) - 1);
  IS(CUDA_ERROR_INVALID_VALUE, cuModuleLoadData(&module, nullptr));
  IS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, garbage));
  IS(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "no/such/file"));
  IS(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, ".version 7.0\n.target sm_70\nwhat {{{\n"));
  IS(CUDA_ERROR_INVALID_HANDLE, cuModuleGetFunction(&function, nullptr, "one"));
  IS(CUDA_SUCCESS, cuModuleLoadData(&module, kPtx));
  IS(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, module, "two"));
  IS(CUDA_SUCCESS, cuModuleGetFunction(&function, module, "one"));
  IS(CUDA_SUCCESS, cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  IS(CUDA_ERROR_INVALID_VALUE,
     cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  IS(CUDA_ERROR_INVALID_VALUE,
     cuLaunchKernel(function, 1, 1, 1, 2048, 1, 1, 0, nullptr, nullptr, nullptr));
  IS(CUDA_SUCCESS, cuModuleUnload(module));
  IS(CUDA_ERROR_INVALID_HANDLE,
     cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  IS(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
}

int main() {
  contexts();
  memory();
  modules();
  return failures == 0 ? 0 : 1;
}
