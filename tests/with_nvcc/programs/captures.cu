// exec: --gpu tiny-64m
// What may not be done while a stream is captured, and what a capture keeps.
#include "check.h"

__global__ void touch() {}

static int called = 0;
static void count(void*) { ++called; }

static void end_broken(cudaStream_t stream) {
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  CHECK(graph == nullptr);
  cudaGetLastError();
}

int main() {
  cudaStream_t stream, other;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamCreate(&other));
  cudaEvent_t event;
  OK(cudaEventCreate(&event));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  void* memory = nullptr;

  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaMallocAsync(&memory, 16 * kMiB, stream));
  OK(cudaMemsetAsync(memory, 0, 16 * kMiB, stream));
  OK(cudaFreeAsync(memory, stream));
  OK(cudaLaunchHostFunc(stream, count, nullptr));
  OK(cudaStreamEndCapture(stream, &graph));
  std::size_t count_of_nodes = 4;
  cudaGraphNode_t nodes[4];
  OK(cudaGraphGetNodes(graph, nodes, &count_of_nodes));
  CHECK(count_of_nodes == 4);
  const cudaGraphNodeType types[] = {cudaGraphNodeTypeMemAlloc, cudaGraphNodeTypeMemset,
                                     cudaGraphNodeTypeMemFree, cudaGraphNodeTypeHost};
  for (int i = 0; i < 4; ++i) {
    cudaGraphNodeType type;
    OK(cudaGraphNodeGetType(nodes[i], &type));
    CHECK(type == types[i]);
  }
  OK(cudaGraphInstantiate(&executable, graph, 0));
  for (int i = 0; i < 2; ++i) OK(cudaGraphLaunch(executable, stream));
  CHECK(called == 2);

  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaMalloc(&memory, 4) == cudaErrorStreamCaptureUnsupported);
  end_broken(stream);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  OK(cudaMalloc(&memory, 4));
  OK(cudaStreamEndCapture(stream, &graph));

  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(event, stream));
  CHECK(cudaEventQuery(event) == cudaErrorCapturedEvent);
  end_broken(stream);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaEventRecord(event, stream));
  OK(cudaStreamWaitEvent(other, event, 0));
  CHECK(cudaStreamEndCapture(other, &graph) == cudaErrorStreamCaptureUnmatched);
  OK(cudaStreamEndCapture(stream, &graph));
  cudaGetLastError();

  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  touch<<<1, 1>>>();
  CHECK(cudaGetLastError() == cudaErrorStreamCaptureImplicit);
  end_broken(stream);
  return 0;
}
