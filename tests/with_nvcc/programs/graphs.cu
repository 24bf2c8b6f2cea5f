// exec: --gpu tiny-64m
// A captured graph, launched again and again.
#include "check.h"

__global__ void kernel(float*) {}

int main() {
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  float* memory;
  OK(cudaMalloc(&memory, kMiB));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaErrorIllegalState);
  for (int i = 0; i < 3; ++i) kernel<<<1, 32, 0, stream>>>(memory);
  OK(cudaMemsetAsync(memory, 0, kMiB, stream));
  cudaGraph_t graph;
  OK(cudaStreamEndCapture(stream, &graph));
  std::size_t nodes = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 4);
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphDestroy(graph));
  for (int i = 0; i < 10; ++i) OK(cudaGraphLaunch(executable, stream));
  OK(cudaStreamSynchronize(stream));
  OK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphLaunch(executable, stream) == cudaErrorInvalidValue);
  // Waiting cannot be captured.
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamSynchronize(stream) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  OK(cudaFree(memory));
  OK(cudaStreamDestroy(stream));
  return 0;
}
