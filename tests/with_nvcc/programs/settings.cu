// exec: --gpu a100-80g,count=2
// What programs set is what they are told, and what a launch needs is checked.
#include <cstdint>
#include <cstring>

#include "check.h"

__global__ void touch(float* data) { data[0] = 1; }

int main() {
  std::size_t bytes = 0;
  OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 * kMiB));
  OK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  CHECK(bytes == 64 * kMiB);
  OK(cudaDeviceGetLimit(&bytes, cudaLimitStackSize));
  CHECK(bytes == 1024);
  unsigned flags = 0;
  OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  OK(cudaGetDeviceFlags(&flags));
  CHECK((flags & cudaDeviceScheduleMask) == cudaDeviceScheduleBlockingSync);
  void* host;
  OK(cudaHostAlloc(&host, 100, cudaHostAllocMapped | cudaHostAllocPortable));
  OK(cudaHostGetFlags(&flags, host));
  CHECK(flags == (cudaHostAllocMapped | cudaHostAllocPortable));
  CHECK(cudaHostGetFlags(&flags, &flags) == cudaErrorInvalidValue);
  CHECK(cudaHostRegister(reinterpret_cast<void*>(0x10), SIZE_MAX, 0) == cudaErrorInvalidValue);

  CHECK(cudaDeviceDisablePeerAccess(1) == cudaErrorPeerAccessNotEnabled);
  OK(cudaDeviceEnablePeerAccess(1, 0));
  CHECK(cudaDeviceEnablePeerAccess(1, 0) == cudaErrorPeerAccessAlreadyEnabled);
  OK(cudaDeviceDisablePeerAccess(1));
  cudaStream_t far;
  cudaEvent_t far_event;
  OK(cudaSetDevice(1));
  OK(cudaStreamCreate(&far));
  OK(cudaEventCreate(&far_event));
  OK(cudaSetDevice(0));
  touch<<<1, 1, 0, far>>>(nullptr);
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(far_event, 0) == cudaErrorInvalidResourceHandle);
  int device = -1;
  OK(cudaStreamGetDevice(far, &device));
  CHECK(device == 1);

  // More shared memory than a kernel has asked for, and more blocks than fit at once.
  touch<<<1, 1, 100 << 10>>>(nullptr);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  OK(cudaFuncSetAttribute(touch, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 << 10));
  touch<<<1, 1, 100 << 10>>>(nullptr);
  OK(cudaGetLastError());
  float* data = nullptr;
  void* arguments[] = {&data};
  int blocks = 0;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, touch, 128, 0));
  const auto function = reinterpret_cast<const void*>(&touch);
  OK(cudaLaunchCooperativeKernel(function, dim3(blocks * 108), dim3(128), arguments, 0, 0));
  int none = -1;
  OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&none, touch, 2048, 0));
  CHECK(none == 0);
  CHECK(cudaFuncSetAttribute(touch, cudaFuncAttributeMaxDynamicSharedMemorySize, -1) ==
        cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(touch, cudaFuncAttributePreferredSharedMemoryCarveout, 101) ==
        cudaErrorInvalidValue);
  CHECK(cudaLaunchCooperativeKernel(function, dim3(blocks * 108 + 1), dim3(128), arguments, 0, 0) ==
        cudaErrorCooperativeLaunchTooLarge);
  const char* name;
  OK(cudaFuncGetName(&name, function));
  CHECK(std::strstr(name, "touch") != nullptr);

  void* managed;
  int value = -1;
  const cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
  OK(cudaMallocManaged(&managed, kMiB));
  OK(cudaMemAdvise(managed, kMiB, cudaMemAdviseSetReadMostly, here));
  OK(cudaMemRangeGetAttribute(&value, sizeof(value), cudaMemRangeAttributeReadMostly, managed,
                              kMiB));
  CHECK(value == 1);
  OK(cudaMemPrefetchAsync(managed, kMiB, here, 0, 0));
  OK(cudaMemRangeGetAttribute(&value, sizeof(value), cudaMemRangeAttributeLastPrefetchLocation,
                              managed, kMiB));
  CHECK(value == 0);
  CHECK(cudaMemAdvise(managed, 4 * kMiB, cudaMemAdviseSetReadMostly, here) ==
        cudaErrorInvalidValue);
  return 0;
}
