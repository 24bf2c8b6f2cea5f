// exec: --gpu tiny-64m,count=2
// What streams call on the host may not call CUDA; what page-locked memory is told to be.
#include "check.h"

static cudaError_t within = cudaSuccess;
static int order = 0;

static void call_cuda(void*) {
  void* memory = nullptr;
  within = cudaMalloc(&memory, 16);
}
static void check_order(void* data) {
  if (order == *static_cast<int*>(data)) ++order;
}
static void callback(cudaStream_t, cudaError_t status, void*) {
  void* memory = nullptr;
  within = status == cudaSuccess ? cudaMalloc(&memory, 16) : status;
}

static void functions() {
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaLaunchHostFunc(stream, call_cuda, nullptr));
  OK(cudaStreamSynchronize(stream));
  CHECK(within == cudaErrorNotPermitted);
  within = cudaSuccess;
  OK(cudaStreamAddCallback(stream, callback, nullptr, 0));
  OK(cudaStreamSynchronize(stream));
  CHECK(within == cudaErrorNotPermitted);
  CHECK(cudaLaunchHostFunc(stream, nullptr, nullptr) == cudaErrorInvalidValue);
  int numbers[4] = {0, 1, 2, 3};
  for (int& number : numbers) OK(cudaLaunchHostFunc(stream, check_order, &number));
  OK(cudaStreamSynchronize(stream));
  CHECK(order == 4);
  cudaEvent_t event;
  OK(cudaEventCreate(&event));
  CHECK(cudaEventRecordWithFlags(event, stream, 7) == cudaErrorInvalidValue);
  OK(cudaEventDestroy(event));
  OK(cudaStreamDestroy(stream));
}

static void page_locked() {
  static char registered[8192];
  void* allocated;
  cudaPointerAttributes attributes;
  OK(cudaSetDevice(1));
  OK(cudaMallocHost(&allocated, 4096));
  OK(cudaHostRegister(registered, sizeof(registered), cudaHostRegisterDefault));
  OK(cudaSetDevice(0));
  for (const void* pointer :
       {static_cast<const void*>(allocated), static_cast<const void*>(registered + 100)}) {
    OK(cudaPointerGetAttributes(&attributes, pointer));
    CHECK(attributes.type == cudaMemoryTypeHost && attributes.device == 1);
  }
  OK(cudaSetDevice(1));
  OK(cudaDeviceReset());
  OK(cudaPointerGetAttributes(&attributes, allocated));
  CHECK(attributes.type == cudaMemoryTypeUnregistered);
  CHECK(cudaFreeHost(allocated) == cudaErrorInvalidValue);
  CHECK(cudaHostUnregister(registered) == cudaErrorHostMemoryNotRegistered);
}

int main() {
  functions();
  page_locked();
  return 0;
}
