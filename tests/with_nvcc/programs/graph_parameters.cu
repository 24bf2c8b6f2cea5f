// exec: --gpu tiny-64m
// What programs ask nodes of a graph for, and change: in the graph, and in what was instantiated of
// it.
#include <cstdint>
#include <cstring>

#include "check.h"

__global__ void kernel(int) {}
__device__ int variable[4];

static int called = 0;
static void add_one(void*) { ++called; }
static void add_ten(void*) { called += 10; }

static unsigned char* memory = nullptr;

static int byte_at(std::size_t offset) {
  unsigned char value = 0;
  OK(cudaMemcpy(&value, memory + offset, 1, cudaMemcpyDeviceToHost));
  return value;
}

static void copies_and_fills() {
  cudaGraph_t graph;
  cudaGraphNode_t filled, copied;
  OK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams fill = {memory, 0, 7, 1, 64, 1}, told_fill = {};
  OK(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  OK(cudaGraphMemsetNodeGetParams(filled, &told_fill));
  CHECK(told_fill.dst == memory && told_fill.value == 7 && told_fill.width == 64);
  OK(cudaGraphAddMemcpyNode1D(&copied, graph, &filled, 1, memory + 128, memory, 64,
                              cudaMemcpyDeviceToDevice));
  cudaMemcpy3DParms told = {};
  OK(cudaGraphMemcpyNodeGetParams(copied, &told));
  CHECK(told.srcPtr.ptr == memory && told.dstPtr.ptr == memory + 128);
  CHECK(told.extent.width == 64 && told.extent.height == 1 && told.extent.depth == 1);
  CHECK(cudaGraphMemcpyNodeGetParams(filled, &told) == cudaErrorInvalidValue);
  fill.value = 9;
  OK(cudaGraphMemsetNodeSetParams(filled, &fill));
  OK(cudaGraphMemcpyNodeSetParams1D(copied, memory + 256, memory, 64, cudaMemcpyDeviceToDevice));
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, 0));
  CHECK(byte_at(0) == 9 && byte_at(256) == 9 && byte_at(128) == 0);
  told.dstPtr.ptr = memory + 512;
  told.srcPtr.ptr = memory;
  OK(cudaGraphExecMemcpyNodeSetParams(executable, copied, &told));
  OK(cudaGraphLaunch(executable, 0));
  CHECK(byte_at(512) == 9);
  CHECK(cudaGraphExecMemcpyNodeSetParams(executable, filled, &told) == cudaErrorInvalidValue);
  const int values[4] = {1, 2, 3, 4};
  int back[2] = {};
  CHECK(cudaGraphMemcpyNodeSetParamsToSymbol(copied, variable, values, 17, 0,
                                             cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(executable, copied, variable, values, 16, 0,
                                              cudaMemcpyHostToDevice));
  OK(cudaGraphLaunch(executable, 0));
  OK(cudaMemcpyFromSymbol(back, variable, 8, 8));
  CHECK(back[0] == 3 && back[1] == 4);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
}

static void any_node() {
  cudaGraph_t graph;
  cudaGraphNode_t told, launched;
  OK(cudaGraphCreate(&graph, 0));
  cudaHostNodeParams host = {add_one, nullptr}, found = {};
  OK(cudaGraphAddHostNode(&told, graph, nullptr, 0, &host));
  OK(cudaGraphHostNodeGetParams(told, &found));
  CHECK(found.fn == add_one);
  int argument = 5;
  void* arguments[] = {&argument};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(kernel);
  launch.gridDim = launch.blockDim = dim3(1);
  launch.kernelParams = arguments;
  OK(cudaGraphAddKernelNode(&launched, graph, nullptr, 0, &launch));
  cudaLaunchAttributeValue value = {}, other = {};
  value.priority = -3;
  OK(cudaGraphKernelNodeSetAttribute(launched, cudaLaunchAttributePriority, &value));
  OK(cudaGraphKernelNodeGetAttribute(launched, cudaLaunchAttributePriority, &other));
  CHECK(other.priority == -3);
  CHECK(cudaGraphKernelNodeGetAttribute(told, cudaLaunchAttributePriority, &other) ==
        cudaErrorInvalidValue);
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  cudaGraphNodeParams parameters = {};
  parameters.type = cudaGraphNodeTypeHost;
  parameters.host.fn = add_ten;
  OK(cudaGraphExecNodeSetParams(executable, told, &parameters));
  OK(cudaGraphLaunch(executable, 0));
  CHECK(called == 10);
  OK(cudaGraphNodeSetParams(told, &parameters));
  OK(cudaGraphHostNodeGetParams(told, &found));
  CHECK(found.fn == add_ten);
  CHECK(cudaGraphNodeSetParams(launched, &parameters) == cudaErrorInvalidValue);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
}

/// Order is what edges say, not in which order nodes were made.
static void edges() {
  cudaGraph_t graph;
  cudaGraphNode_t first, second;
  OK(cudaGraphCreate(&graph, 0));
  const cudaMemsetParams five = {memory, 0, 5, 1, 1, 1}, six = {memory, 0, 6, 1, 1, 1};
  OK(cudaGraphAddMemsetNode(&second, graph, nullptr, 0, &five));
  OK(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &six));
  CHECK(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1) == cudaErrorInvalidValue);
  OK(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
  CHECK(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1) == cudaErrorInvalidValue);
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagUseNodePriority));
  unsigned long long flags = 0;
  OK(cudaGraphExecGetFlags(executable, &flags));
  CHECK(flags == cudaGraphInstantiateFlagUseNodePriority);
  OK(cudaGraphLaunch(executable, 0));
  CHECK(byte_at(0) == 5);
  OK(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1));
  cudaGraphExecUpdateResultInfo result = {};
  CHECK(cudaGraphExecUpdate(executable, graph, &result) == cudaErrorGraphExecUpdateFailure);
  CHECK(result.result == cudaGraphExecUpdateErrorTopologyChanged);
  OK(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1));
  OK(cudaGraphAddDependencies(graph, &second, &first, nullptr, 1));
  OK(cudaGraphExecDestroy(executable));
  CHECK(cudaGraphInstantiate(&executable, graph, 0) == cudaErrorInvalidValue);
  CHECK(cudaGraphInstantiate(&executable, graph, 1 << 20) == cudaErrorInvalidValue);
  cudaGraphInstantiateParams parameters = {};
  parameters.result_out = cudaGraphInstantiateSuccess;
  CHECK(cudaGraphInstantiateWithParams(&executable, graph, &parameters) == cudaErrorInvalidValue);
  CHECK(parameters.result_out == cudaGraphInstantiateInvalidStructure);
  OK(cudaGraphRemoveDependencies(graph, &second, &first, nullptr, 1));
  parameters.result_out = cudaGraphInstantiateError;
  OK(cudaGraphInstantiateWithParams(&executable, graph, &parameters));
  CHECK(parameters.result_out == cudaGraphInstantiateSuccess);
  OK(cudaGraphDebugDotPrint(graph, "/dev/null", 0));
  CHECK(cudaGraphDebugDotPrint(graph, "/no/such/folder/graph.dot", 0) == cudaErrorOperatingSystem);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
}

static void children_and_clones() {
  cudaGraph_t graph, child, own, clone;
  cudaGraphNode_t inner, outer, found;
  OK(cudaGraphCreate(&child, 0));
  cudaMemsetParams fill = {memory, 0, 11, 1, 1, 1};
  OK(cudaGraphAddMemsetNode(&inner, child, nullptr, 0, &fill));
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddChildGraphNode(&outer, graph, nullptr, 0, child));
  OK(cudaGraphChildGraphNodeGetGraph(outer, &own));
  CHECK(own != child);
  OK(cudaGraphNodeFindInClone(&found, inner, own));
  CHECK(found != inner);
  OK(cudaGraphClone(&clone, graph));
  OK(cudaGraphNodeFindInClone(&found, outer, clone));
  CHECK(cudaGraphNodeFindInClone(&found, inner, clone) == cudaErrorInvalidValue);
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, 0));
  CHECK(byte_at(0) == 11);
  fill.value = 12;
  OK(cudaGraphMemsetNodeSetParams(inner, &fill));
  OK(cudaGraphLaunch(executable, 0));
  CHECK(byte_at(0) == 11);  // the node has a graph of its own
  OK(cudaGraphExecChildGraphNodeSetParams(executable, outer, child));
  OK(cudaGraphLaunch(executable, 0));
  CHECK(byte_at(0) == 12);
  OK(cudaGraphAddEmptyNode(&inner, child, nullptr, 0));
  CHECK(cudaGraphExecChildGraphNodeSetParams(executable, outer, child) == cudaErrorInvalidValue);
  for (cudaGraph_t one : {graph, child, clone}) OK(cudaGraphDestroy(one));
  CHECK(cudaGraphGetNodes(own, nullptr, nullptr) == cudaErrorInvalidValue);
  OK(cudaGraphLaunch(executable, 0));
  OK(cudaGraphExecDestroy(executable));
}

static void events_and_memory() {
  cudaGraph_t graph;
  cudaGraphNode_t begun, ended, taken, given;
  cudaEvent_t begin, end, told;
  OK(cudaEventCreate(&begin));
  OK(cudaEventCreate(&end));
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphAddEventRecordNode(&begun, graph, nullptr, 0, begin));
  OK(cudaGraphAddEventRecordNode(&ended, graph, &begun, 1, begin));
  OK(cudaGraphEventRecordNodeSetEvent(ended, end));
  OK(cudaGraphEventRecordNodeGetEvent(ended, &told));
  CHECK(told == end);
  CHECK(cudaGraphEventWaitNodeGetEvent(ended, &told) == cudaErrorInvalidValue);
  cudaMemAllocNodeParams memory_of_node = {}, found = {};
  memory_of_node.poolProps.allocType = cudaMemAllocationTypePinned;
  memory_of_node.poolProps.location = {cudaMemLocationTypeDevice, 0};
  memory_of_node.bytesize = 1000;
  OK(cudaGraphAddMemAllocNode(&taken, graph, nullptr, 0, &memory_of_node));
  OK(cudaGraphMemAllocNodeGetParams(taken, &found));
  CHECK(found.dptr == memory_of_node.dptr && found.bytesize == 1000);
  OK(cudaGraphAddMemFreeNode(&given, graph, &taken, 1, found.dptr));
  void* freed = nullptr;
  OK(cudaGraphMemFreeNodeGetParams(given, &freed));
  CHECK(freed == found.dptr);
  float milliseconds = 0;
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end) == cudaErrorInvalidResourceHandle);
  cudaGraphExec_t executable;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, 0));
  OK(cudaDeviceSynchronize());
  OK(cudaEventElapsedTime(&milliseconds, begin, end));
  std::uint64_t high = 1;
  CHECK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high) ==
        cudaErrorInvalidValue);
  high = 0;
  OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high));
  OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high));
  CHECK(high == 0);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
}

/// What a condition is for is decided by its value at the launch: no kernel changes it.
static void conditions() {
  for (const unsigned value : {0U, 1U}) {
    cudaGraph_t graph;
    cudaGraphNode_t node, filled;
    cudaGraphConditionalHandle handle;
    OK(cudaMemset(memory, 0, 1));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphConditionalHandleCreate(&handle, graph, value, cudaGraphCondAssignDefault));
    cudaGraphNodeParams parameters = {};
    parameters.type = cudaGraphNodeTypeConditional;
    parameters.conditional.handle = handle;
    parameters.conditional.type = cudaGraphCondTypeIf;
    parameters.conditional.size = 2;
    OK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters));
    for (unsigned i = 0; i < 2; ++i) {
      const cudaMemsetParams fill = {memory, 0, 20 + i, 1, 1, 1};
      OK(cudaGraphAddMemsetNode(&filled, parameters.conditional.phGraph_out[i], nullptr, 0, &fill));
    }
    cudaGraphExec_t executable;
    OK(cudaGraphInstantiate(&executable, graph, 0));
    OK(cudaGraphLaunch(executable, 0));
    CHECK(byte_at(0) == (value != 0 ? 20 : 21));
    OK(cudaGraphExecDestroy(executable));
    parameters.conditional.size = 3;
    CHECK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters) ==
          cudaErrorInvalidValue);
    OK(cudaGraphDestroy(graph));
  }
}

int main() {
  OK(cudaMalloc(&memory, 1024));
  OK(cudaMemset(memory, 0, 1024));
  copies_and_fills();
  any_node();
  edges();
  children_and_clones();
  events_and_memory();
  conditions();
  OK(cudaFree(memory));
  return 0;
}
