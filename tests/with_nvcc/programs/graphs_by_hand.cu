// exec: --gpu tiny-64m
// Graphs that a program builds node by node: host functions, copies and fills are done at each
// launch, and memory stays with the GPU's graphs until it is trimmed.
#include <cstdint>
#include <cstring>

#include "check.h"

__global__ void touch(float* data) { data[threadIdx.x] += 1; }

static int called = 0;
static void count(void*) { ++called; }

static std::uint64_t graph_memory(cudaGraphMemAttributeType attribute) {
  std::uint64_t bytes = 0;
  OK(cudaDeviceGetGraphMemAttribute(0, attribute, &bytes));
  return bytes;
}

int main() {
  float *data, host[32] = {};
  OK(cudaMalloc(&data, sizeof(host)));
  const std::size_t before = free_bytes();
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t filled, launched, copied, told, taken, given;
  cudaMemsetParams fill = {};
  fill.dst = data;
  fill.elementSize = 4;
  fill.width = 31;
  fill.height = 1;
  fill.value = 0x40400000;  // 3
  OK(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  // The last one, by its halves.
  fill.dst = data + 31;
  fill.elementSize = 2;
  fill.width = 2;
  fill.value = 0x4040;
  OK(cudaGraphAddMemsetNode(&filled, graph, &filled, 1, &fill));
  void* arguments[] = {&data};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(&touch);
  launch.gridDim = dim3(1);
  launch.blockDim = dim3(32);
  launch.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(&launched, graph, &filled, 1, &launch));
  OK(cudaGraphAddMemcpyNode1D(&copied, graph, &launched, 1, host, data, sizeof(host),
                              cudaMemcpyDeviceToHost));
  cudaHostNodeParams call = {count, nullptr};
  OK(cudaGraphAddHostNode(&told, graph, &copied, 1, &call));
  cudaMemAllocNodeParams memory = {};
  memory.poolProps.allocType = cudaMemAllocationTypePinned;
  memory.poolProps.location = {cudaMemLocationTypeDevice, 0};
  memory.bytesize = 8 * kMiB;
  OK(cudaGraphAddMemAllocNode(&taken, graph, &filled, 1, &memory));
  OK(cudaGraphAddMemFreeNode(&given, graph, &taken, 1, memory.dptr));
  launch.blockDim = dim3(2048);
  CHECK(cudaGraphAddKernelNode(&launched, graph, nullptr, 0, &launch) ==
        cudaErrorInvalidConfiguration);
  CHECK(cudaGraphAddHostNode(&told, graph, nullptr, 1, &call) == cudaErrorInvalidValue);

  std::size_t nodes = 0, roots = 0, edges = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  CHECK(nodes == 7 && roots == 1 && edges == 6);
  cudaGraphNodeType type;
  OK(cudaGraphNodeGetType(taken, &type));
  CHECK(type == cudaGraphNodeTypeMemAlloc);

  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  CHECK(called == 0 && host[31] == 0);
  for (int i = 0; i < 3; ++i) OK(cudaGraphLaunch(executable, 0));
  OK(cudaDeviceSynchronize());
  CHECK(called == 3 && host[30] == 3 && host[31] > 3.003F && host[31] < 3.004F);  // 0x40404040
  CHECK(graph_memory(cudaGraphMemAttrUsedMemHigh) == 8 * kMiB);
  CHECK(graph_memory(cudaGraphMemAttrReservedMemCurrent) == 8 * kMiB);
  CHECK(before - free_bytes() == 8 * kMiB);

  cudaGraph_t clone, other;
  OK(cudaGraphClone(&clone, graph));
  cudaGraphExecUpdateResultInfo result;
  OK(cudaGraphExecUpdate(executable, clone, &result));
  CHECK(result.result == cudaGraphExecUpdateSuccess);
  OK(cudaGraphCreate(&other, 0));
  CHECK(cudaGraphExecUpdate(executable, other, &result) == cudaErrorGraphExecUpdateFailure);
  CHECK(result.result == cudaGraphExecUpdateErrorTopologyChanged);
  for (cudaGraph_t one : {graph, clone, other}) OK(cudaGraphDestroy(one));
  CHECK(cudaGraphNodeGetType(taken, &type) == cudaErrorInvalidValue);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaDeviceGraphMemTrim(0));
  CHECK(free_bytes() == before);
  return 0;
}
