// exec: --gpu tiny-64m
// What a capture records of copies and fills is done at each launch; what may not be done
// meanwhile.
#include <cstring>

#include "check.h"

__global__ void kernel(unsigned char*) {}

static void end_broken(cudaStream_t stream) {
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
}

static void copies(cudaStream_t stream) {
  unsigned char *device, *sent, *got, *scratch;
  OK(cudaMalloc(&device, 256));
  OK(cudaMallocHost(&sent, 256));
  OK(cudaMallocHost(&got, 256));
  std::memset(got, 0, 256);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaMemsetAsync(device, 1, 256, stream));
  OK(cudaMemcpyAsync(device, sent, 128, cudaMemcpyHostToDevice, stream));
  OK(cudaMallocAsync(&scratch, 256, stream));
  OK(cudaMemcpyAsync(scratch, device, 256, cudaMemcpyDeviceToDevice, stream));
  kernel<<<1, 1, 0, stream>>>(scratch);
  OK(cudaMemcpy2DAsync(got, 256, scratch, 256, 256, 1, cudaMemcpyDeviceToHost, stream));
  OK(cudaFreeAsync(scratch, stream));
  cudaGraph_t graph;
  OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(got[0] == 0);
  for (int i = 5; i < 7; ++i) {
    std::memset(sent, i, 256);
    OK(cudaGraphLaunch(executable, stream));
    OK(cudaStreamSynchronize(stream));
    CHECK(got[0] == i && got[127] == i && got[128] == 1 && got[255] == 1);
  }
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(device));
  OK(cudaFreeHost(sent));
  OK(cudaFreeHost(got));
}

static void called(cudaStream_t, cudaError_t, void*) {}

static void not_allowed(cudaStream_t stream) {
  char *device, host = 0;
  OK(cudaMalloc(&device, 16));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamQuery(stream) == cudaErrorStreamCaptureUnsupported);
  end_broken(stream);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  CHECK(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported);
  end_broken(stream);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpy(&host, device, 1, cudaMemcpyDeviceToHost) == cudaErrorStreamCaptureImplicit);
  end_broken(stream);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemset(device, 0, 1) == cudaErrorStreamCaptureImplicit);
  end_broken(stream);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaFree(device) == cudaErrorStreamCaptureUnsupported);
  end_broken(stream);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamAddCallback(stream, called, nullptr, 0) == cudaErrorStreamCaptureUnsupported);
  end_broken(stream);
  OK(cudaFree(device));
}

int main() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  copies(stream);
  not_allowed(stream);
  OK(cudaStreamDestroy(stream));
  return 0;
}
