// exec: --gpu tiny-64m
// What a capture knows of the order of work, and what may be changed in an executable graph.
#include <cstring>

#include "check.h"

__global__ void kernel() {}

static std::size_t edges_of(cudaGraph_t graph) {
  std::size_t edges = 0;
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  return edges;
}

static void forks(cudaStream_t first, cudaStream_t second) {
  cudaEvent_t event;
  cudaGraph_t graph;
  OK(cudaEventCreate(&event));
  for (const bool is_joined : {true, false}) {
    OK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    kernel<<<1, 1, 0, first>>>();
    OK(cudaEventRecord(event, first));
    OK(cudaStreamWaitEvent(second, event));
    kernel<<<1, 1, 0, second>>>();
    kernel<<<1, 1, 0, first>>>();
    OK(cudaEventRecord(event, second));
    if (is_joined) {
      OK(cudaStreamWaitEvent(first, event));
      kernel<<<1, 1, 0, first>>>();
      OK(cudaStreamEndCapture(first, &graph));
      std::size_t roots = 0;
      OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
      CHECK(roots == 1 && edges_of(graph) == 4);
      OK(cudaGraphDestroy(graph));
    } else {
      CHECK(cudaStreamEndCapture(first, &graph) == cudaErrorStreamCaptureUnjoined);
      CHECK(graph == nullptr);
    }
  }
  cudaGetLastError();
}

static void changes() {
  unsigned char* memory = nullptr;
  unsigned char value = 0;
  OK(cudaMalloc(&memory, 256));
  cudaGraph_t graph;
  cudaGraphNode_t filled, copied, launched;
  OK(cudaGraphCreate(&graph, 0));
  const cudaMemsetParams fill = {memory, 0, 7, 1, 64, 1};
  OK(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  cudaGraphNodeParams parameters = {};
  parameters.type = cudaGraphNodeTypeMemcpy;
  auto& volume = parameters.memcpy.copyParams;
  volume.srcPtr = make_cudaPitchedPtr(memory, 64, 64, 1);
  volume.dstPtr = make_cudaPitchedPtr(memory + 128, 64, 64, 1);
  volume.extent = make_cudaExtent(64, 1, 1);
  volume.kind = cudaMemcpyDeviceToDevice;
  OK(cudaGraphAddNode(&copied, graph, &filled, nullptr, 1, &parameters));
  cudaKernelNodeParams kernel_parameters = {};
  kernel_parameters.func = reinterpret_cast<void*>(kernel);
  kernel_parameters.gridDim = kernel_parameters.blockDim = dim3(1);
  OK(cudaGraphAddKernelNode(&launched, graph, &copied, 1, &kernel_parameters));
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphNodeSetEnabled(executable, copied, 0));
  OK(cudaGraphLaunch(executable, 0));
  OK(cudaMemcpy(&value, memory + 128, 1, cudaMemcpyDeviceToHost));
  CHECK(value == 0);
  OK(cudaGraphNodeSetEnabled(executable, copied, 1));
  const cudaMemsetParams other = {memory, 0, 9, 1, 64, 1};
  OK(cudaGraphExecMemsetNodeSetParams(executable, filled, &other));
  OK(cudaGraphLaunch(executable, 0));
  OK(cudaMemcpy(&value, memory + 128, 1, cudaMemcpyDeviceToHost));
  CHECK(value == 9);
  OK(cudaGraphKernelNodeGetParams(launched, &kernel_parameters));
  CHECK(kernel_parameters.func == reinterpret_cast<void*>(kernel));
  kernel_parameters.blockDim = dim3(2048);
  CHECK(cudaGraphExecKernelNodeSetParams(executable, launched, &kernel_parameters) ==
        cudaErrorInvalidConfiguration);
  CHECK(cudaGraphExecKernelNodeSetParams(executable, filled, &kernel_parameters) ==
        cudaErrorInvalidValue);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(memory));
}

int main() {
  cudaStream_t first, second;
  OK(cudaStreamCreate(&first));
  OK(cudaStreamCreate(&second));
  forks(first, second);
  changes();
  OK(cudaDeviceReset());
  CHECK(cudaStreamSynchronize(first) == cudaErrorInvalidResourceHandle);
  return 0;
}
