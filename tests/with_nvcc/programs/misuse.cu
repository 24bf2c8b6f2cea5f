// exec: --gpu tiny-64m,count=2
// Calls of the runtime that are wrong: each returns what NVIDIA's reference says, and nothing ends.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "check.h"

__global__ void kernel() {}
__device__ int variable[4];

static int failures = 0;

/// A call that fails with this status, which cudaGetLastError has, too.
#define FAILS(expected, call)                                                     \
  do {                                                                            \
    cudaGetLastError();                                                           \
    const cudaError_t status = (call);                                            \
    const cudaError_t last = cudaGetLastError();                                  \
    if (status != (expected) || last != (expected)) {                             \
      std::printf("%d: %s returns %s (last error %s), not %s\n", __LINE__, #call, \
                  cudaGetErrorName(status), cudaGetErrorName(last), #expected);   \
      ++failures;                                                                 \
    }                                                                             \
  } while (false)

static void memory() {
  void* pointer = nullptr;
  std::size_t pitch = 0;
  FAILS(cudaErrorInvalidValue, cudaMalloc(static_cast<void**>(nullptr), 1));
  FAILS(cudaErrorMemoryAllocation, cudaMalloc(&pointer, SIZE_MAX));
  FAILS(cudaErrorMemoryAllocation, cudaMalloc(&pointer, SIZE_MAX - 4095));
  FAILS(cudaErrorMemoryAllocation,
        cudaMallocPitch(&pointer, &pitch, std::size_t{1} << 33, std::size_t{1} << 31));
  FAILS(cudaErrorMemoryAllocation, cudaMallocPitch(&pointer, &pitch, SIZE_MAX, 1));
  FAILS(cudaErrorInvalidValue, cudaMallocPitch(&pointer, nullptr, 1, 1));
  cudaPitchedPtr pitched;
  FAILS(cudaErrorMemoryAllocation,
        cudaMalloc3D(&pitched, make_cudaExtent(1, std::size_t{1} << 40, std::size_t{1} << 40)));
  FAILS(cudaErrorInvalidValue, cudaFree(&pointer));
  OK(cudaMalloc(&pointer, 1024));
  FAILS(cudaErrorInvalidValue, cudaFree(static_cast<char*>(pointer) + 512));
  OK(cudaFree(pointer));
  FAILS(cudaErrorInvalidValue, cudaFree(pointer));
  FAILS(cudaErrorInvalidValue, cudaMallocManaged(&pointer, 0));
  FAILS(cudaErrorInvalidValue, cudaMallocManaged(&pointer, 1, 7));
  FAILS(cudaErrorInvalidValue, cudaMemGetInfo(nullptr, nullptr));
}

static void copies() {
  static char host[1 << 20];
  char* device = nullptr;
  OK(cudaMalloc(&device, 1024));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(host, device, 1025, cudaMemcpyDeviceToHost));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(device + 1000, host, 25, cudaMemcpyHostToDevice));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(nullptr, host, 1, cudaMemcpyHostToDevice));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(device, nullptr, 1, cudaMemcpyHostToDevice));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(device, host, SIZE_MAX, cudaMemcpyHostToDevice));
  FAILS(cudaErrorInvalidValue,
        cudaMemcpy(reinterpret_cast<void*>(0xdeadbeef000), host, 1, cudaMemcpyDefault));
  FAILS(cudaErrorInvalidMemcpyDirection,
        cudaMemcpy(device, host, 1, static_cast<cudaMemcpyKind>(77)));
  FAILS(cudaErrorInvalidMemcpyDirection,
        cudaMemcpy(device, host, 1, static_cast<cudaMemcpyKind>(-1)));
  FAILS(cudaErrorInvalidPitchValue, cudaMemcpy2D(device, 8, host, 16, 16, 2, cudaMemcpyDefault));
  OK(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDefault));
  FAILS(cudaErrorInvalidValue, cudaMemset(device, 0, 1 << 20));
  FAILS(cudaErrorInvalidValue, cudaMemset(nullptr, 0, 1));
  FAILS(cudaErrorInvalidValue, cudaMemset(host, 0, 1));
  FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(host, host, 4));
  FAILS(cudaErrorInvalidValue, cudaMemcpyToSymbol(variable, host, sizeof(variable) + 1));
  FAILS(cudaErrorInvalidValue, cudaMemcpyFromSymbol(host, variable, 4, sizeof(variable)));
  int back[4] = {};
  const int values[4] = {1, 2, 3, 4};
  OK(cudaMemcpyToSymbol(variable, values, sizeof(values)));
  OK(cudaMemcpyFromSymbol(back, variable, sizeof(back)));
  CHECK(std::memcmp(values, back, sizeof(back)) == 0);
  OK(cudaFree(device));
  FAILS(cudaErrorInvalidValue, cudaMemcpy(device, host, 1, cudaMemcpyHostToDevice));
}

static void pinned() {
  static char host[8192];
  void* pointer = nullptr;
  FAILS(cudaErrorInvalidValue, cudaMallocHost(static_cast<void**>(nullptr), 1));
  FAILS(cudaErrorMemoryAllocation, cudaMallocHost(&pointer, std::size_t{1} << 60));
  FAILS(cudaErrorInvalidValue, cudaHostAlloc(&pointer, 1, 64));
  FAILS(cudaErrorInvalidValue, cudaFreeHost(host));
  FAILS(cudaErrorInvalidValue, cudaHostRegister(nullptr, 1, 0));
  FAILS(cudaErrorInvalidValue, cudaHostRegister(host, 0, 0));
  FAILS(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host));
  OK(cudaHostRegister(host, 4096, 0));
  FAILS(cudaErrorHostMemoryAlreadyRegistered, cudaHostRegister(host + 100, 4096, 0));
  FAILS(cudaErrorInvalidValue, cudaFreeHost(host));
  OK(cudaHostUnregister(host));
  FAILS(cudaErrorInvalidValue, cudaHostGetDevicePointer(&pointer, host, 0));
}

static void launches() {
  const void* const function = reinterpret_cast<const void*>(&kernel);
  kernel<<<1, 1>>>();
  OK(cudaGetLastError());
  FAILS(cudaErrorInvalidDeviceFunction,
        cudaLaunchKernel(&failures, dim3(1), dim3(1), nullptr, 0, 0));
  FAILS(cudaErrorInvalidConfiguration, cudaLaunchKernel(function, dim3(0), dim3(1), nullptr, 0, 0));
  FAILS(cudaErrorInvalidConfiguration, cudaLaunchKernel(function, dim3(1), dim3(0), nullptr, 0, 0));
  FAILS(cudaErrorInvalidConfiguration,
        cudaLaunchKernel(function, dim3(1), dim3(2048), nullptr, 0, 0));
  FAILS(cudaErrorInvalidConfiguration,
        cudaLaunchKernel(function, dim3(1), dim3(32, 32, 2), nullptr, 0, 0));
  FAILS(cudaErrorInvalidConfiguration,
        cudaLaunchKernel(function, dim3(1), dim3(1, 1, 65), nullptr, 0, 0));
  FAILS(cudaErrorInvalidConfiguration,
        cudaLaunchKernel(function, dim3(1, 65536), dim3(1), nullptr, 0, 0));
  FAILS(cudaErrorInvalidValue,
        cudaLaunchKernel(function, dim3(1), dim3(1), nullptr, std::size_t{1} << 30, 0));
  cudaFuncAttributes attributes;
  FAILS(cudaErrorInvalidDeviceFunction, cudaFuncGetAttributes(&attributes, &failures));
  FAILS(cudaErrorInvalidValue,
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30));
}

static void streams_and_events() {
  const auto dead = reinterpret_cast<cudaStream_t>(0xdead0);
  cudaStream_t stream;
  FAILS(cudaErrorInvalidValue, cudaStreamCreate(nullptr));
  FAILS(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&stream, 99));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamDestroy(dead));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(dead));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamQuery(dead));
  FAILS(cudaErrorInvalidResourceHandle, cudaLaunchKernel(reinterpret_cast<const void*>(&kernel),
                                                         dim3(1), dim3(1), nullptr, 0, dead));
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamDestroy(stream));
  FAILS(cudaErrorInvalidResourceHandle, cudaStreamDestroy(stream));
  cudaEvent_t first, second;
  float milliseconds;
  FAILS(cudaErrorInvalidValue, cudaEventCreate(static_cast<cudaEvent_t*>(nullptr)));
  FAILS(cudaErrorInvalidValue, cudaEventCreateWithFlags(&first, 99));
  OK(cudaEventCreate(&first));
  OK(cudaEventCreateWithFlags(&second, cudaEventDisableTiming));
  FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, first, first));
  OK(cudaEventRecord(first));
  OK(cudaEventRecord(second));
  FAILS(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, first, second));
  OK(cudaEventElapsedTime(&milliseconds, first, first));
  FAILS(cudaErrorInvalidResourceHandle, cudaEventRecord(first, dead));
  OK(cudaEventDestroy(first));
  FAILS(cudaErrorInvalidResourceHandle, cudaEventDestroy(first));
  FAILS(cudaErrorInvalidResourceHandle, cudaEventQuery(first));
  cudaGraph_t graph;
  FAILS(cudaErrorInvalidValue, cudaGraphDestroy(reinterpret_cast<cudaGraph_t>(dead)));
  FAILS(cudaErrorIllegalState, cudaStreamEndCapture(0, &graph));
  FAILS(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
}

static void devices() {
  cudaDeviceProp properties;
  int value;
  FAILS(cudaErrorInvalidDevice, cudaSetDevice(2));
  FAILS(cudaErrorInvalidDevice, cudaSetDevice(-1));
  FAILS(cudaErrorInvalidDevice, cudaGetDeviceProperties(&properties, 9));
  FAILS(cudaErrorInvalidValue, cudaGetDeviceCount(nullptr));
  FAILS(cudaErrorInvalidValue, cudaDeviceGetAttribute(nullptr, cudaDevAttrMaxPitch, 0));
  FAILS(cudaErrorInvalidValue,
        cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(99999), 0));
  FAILS(cudaErrorInvalidDevice, cudaDeviceEnablePeerAccess(0, 0));
}

/// What a child of a process that used the GPU gets.
static void child() {
  const pid_t process = fork();
  if (process == 0) {
    void* pointer = nullptr;
    _exit(cudaMalloc(&pointer, 1));
  }
  int status = 0;
  waitpid(process, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == cudaErrorInitializationError);
}

int main() {
  memory();
  copies();
  pinned();
  launches();
  streams_and_events();
  devices();
  child();
  return failures == 0 ? 0 : 1;
}
