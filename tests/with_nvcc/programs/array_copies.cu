// exec: --gpu tiny-64m,count=2
// Copies of runs of bytes to and from arrays, between arrays, between GPUs, and several at once.
#include <cstring>
#include <vector>

#include "check.h"

static std::vector<unsigned char> counted(std::size_t count) {
  std::vector<unsigned char> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i] = static_cast<unsigned char>(i);
  return made;
}

static void arrays() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
  cudaArray_t first, second;
  OK(cudaMallocArray(&first, &format, 16, 8));
  OK(cudaMallocArray(&second, &format, 16, 8));
  const std::vector<unsigned char> sent = counted(128);
  std::vector<unsigned char> got(128);
  // From the middle of a row, over several.
  OK(cudaMemcpyToArray(first, 8, 1, sent.data(), 40, cudaMemcpyHostToDevice));
  OK(cudaMemcpyFromArray(got.data(), first, 8, 1, 40, cudaMemcpyDeviceToHost));
  CHECK(std::memcmp(got.data(), sent.data(), 40) == 0);
  CHECK(cudaMemcpyToArray(first, 8, 7, sent.data(), 9, cudaMemcpyHostToDevice) ==
        cudaErrorInvalidValue);
  OK(cudaMemcpyToArray(first, 0, 0, sent.data(), 128, cudaMemcpyHostToDevice));
  OK(cudaMemcpyArrayToArray(second, 0, 4, first, 0, 0, 64));
  OK(cudaMemcpyFromArray(got.data(), second, 0, 4, 64, cudaMemcpyDeviceToHost));
  CHECK(std::memcmp(got.data(), sent.data(), 64) == 0);
  OK(cudaMemcpy2DArrayToArray(second, 4, 0, first, 8, 2, 8, 2));
  OK(cudaMemcpy2DFromArray(got.data(), 8, second, 4, 0, 8, 2, cudaMemcpyDeviceToHost));
  CHECK(std::memcmp(got.data(), sent.data() + 40, 8) == 0);
  CHECK(std::memcmp(got.data() + 8, sent.data() + 56, 8) == 0);
  CHECK(cudaMemcpy2DArrayToArray(second, 12, 0, first, 8, 2, 8, 2) == cudaErrorInvalidValue);
  OK(cudaFreeArray(first));
  OK(cudaFreeArray(second));
}

static void between_gpus() {
  cudaPitchedPtr memory[2];
  const cudaExtent extent = make_cudaExtent(32, 4, 2);
  for (int device = 0; device < 2; ++device) {
    OK(cudaSetDevice(device));
    OK(cudaMalloc3D(&memory[device], extent));
    OK(cudaMemset3D(memory[device], device + 1, extent));
  }
  cudaMemcpy3DPeerParms copied = {};
  copied.srcPtr = memory[0];
  copied.srcDevice = 0;
  copied.dstPtr = memory[1];
  copied.dstDevice = 1;
  copied.extent = extent;
  OK(cudaMemcpy3DPeer(&copied));
  char value = 0;
  OK(cudaMemcpy(&value, memory[1].ptr, 1, cudaMemcpyDeviceToHost));
  CHECK(value == 1);
  copied.dstDevice = 2;
  CHECK(cudaMemcpy3DPeer(&copied) == cudaErrorInvalidDevice);
  OK(cudaSetDevice(0));
  for (const cudaPitchedPtr& one : memory) OK(cudaFree(one.ptr));
}

static void batches() {
  cudaStream_t stream;
  char *device, host[3] = {4, 5, 6}, got[3] = {};
  OK(cudaStreamCreate(&stream));
  OK(cudaMalloc(&device, 16));
  void* to[] = {device, device + 1, device + 2};
  const void* from[] = {host, host + 1, host + 2};
  const std::size_t sizes[] = {1, 1, 1};
  std::size_t begins[] = {0};
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  OK(cudaMemcpyBatchAsync(to, from, sizes, 3, &attributes, begins, 1, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaMemcpy(got, device, 3, cudaMemcpyDeviceToHost));
  CHECK(std::memcmp(got, host, 3) == 0);
  CHECK(cudaMemcpyBatchAsync(to, from, sizes, 3, &attributes, begins, 1, 0) ==
        cudaErrorInvalidValue);
  CHECK(cudaMemcpyBatchAsync(to, from, sizes, 0, &attributes, begins, 1, stream) ==
        cudaErrorInvalidValue);
  char* managed;
  OK(cudaMallocManaged(&managed, kMiB));
  void* pieces[] = {managed};
  std::size_t bytes[] = {kMiB};
  cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
  OK(cudaMemPrefetchBatchAsync(pieces, bytes, 1, &here, begins, 1, 0, stream));
  int values[2] = {-7, -7};
  void* answers[] = {&values[0], &values[1]};
  std::size_t answer_bytes[] = {4, 4};
  cudaMemRangeAttribute asked[] = {cudaMemRangeAttributeReadMostly,
                                   cudaMemRangeAttributeLastPrefetchLocation};
  OK(cudaMemRangeGetAttributes(answers, answer_bytes, asked, 2, managed, kMiB));
  CHECK(values[0] == 0 && values[1] == 0);
  OK(cudaFree(managed));
  OK(cudaFree(device));
  OK(cudaStreamDestroy(stream));
}

int main() {
  arrays();
  between_gpus();
  batches();
  return 0;
}
