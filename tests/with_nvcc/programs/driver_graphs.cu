// links: -lcuda
// exec: --gpu tiny-64m
// Graphs that a program builds with calls of the driver.
#include <cuda.h>

#include <cstdio>
#include <cstring>

#define OK(call)                                                                     \
  do {                                                                               \
    const CUresult status = (call);                                                  \
    if (status != CUDA_SUCCESS) {                                                    \
      std::printf("%d: %s returns %d\n", __LINE__, #call, static_cast<int>(status)); \
      return 1;                                                                      \
    }                                                                                \
  } while (false)
#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) return std::printf("%d: %s\n", __LINE__, #condition), 1; \
  } while (false)

static const char kPtx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry one(){ret;}\n";

static int called = 0;
static void count(void*) { ++called; }

int main() {
  CUcontext context;
  CUmodule module;
  CUfunction function;
  CUdeviceptr memory;
  OK(cuInit(0));
  OK(cuCtxCreate(&context, nullptr, 0, 0));
  OK(cuModuleLoadData(&module, kPtx));
  OK(cuModuleGetFunction(&function, module, "one"));
  OK(cuMemAlloc(&memory, 1024));
  OK(cuMemsetD8(memory, 0, 1024));

  CUgraph graph;
  CUgraphNode filled, copied, launched, told;
  OK(cuGraphCreate(&graph, 0));
  CUDA_MEMSET_NODE_PARAMS fill = {};
  fill.dst = memory;
  fill.value = 3;
  fill.elementSize = 1;
  fill.width = 32;
  fill.height = 1;
  OK(cuGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill, context));
  unsigned char host[32] = {};
  CUDA_MEMCPY3D copy = {}, told_copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = memory;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = host;
  copy.WidthInBytes = 32;
  copy.Height = copy.Depth = 1;
  OK(cuGraphAddMemcpyNode(&copied, graph, &filled, 1, &copy, context));
  OK(cuGraphMemcpyNodeGetParams(copied, &told_copy));
  CHECK(told_copy.srcDevice == memory && told_copy.dstHost == host);
  CHECK(told_copy.srcMemoryType == CU_MEMORYTYPE_DEVICE &&
        told_copy.dstMemoryType == CU_MEMORYTYPE_HOST && told_copy.WidthInBytes == 32);
  CUDA_KERNEL_NODE_PARAMS launch = {};
  launch.func = function;
  launch.gridDimX = launch.gridDimY = launch.gridDimZ = 1;
  launch.blockDimX = launch.blockDimY = launch.blockDimZ = 1;
  OK(cuGraphAddKernelNode(&launched, graph, &copied, 1, &launch));
  launch.blockDimX = 2048;
  CHECK(cuGraphKernelNodeSetParams(launched, &launch) == CUDA_ERROR_INVALID_VALUE);
  OK(cuGraphKernelNodeGetParams(launched, &launch));
  CHECK(launch.func == function && launch.blockDimX == 1);
  CUgraphNodeParams host_node = {};
  host_node.type = CU_GRAPH_NODE_TYPE_HOST;
  host_node.host.fn = count;
  OK(cuGraphAddNode(&told, graph, nullptr, nullptr, 0, &host_node));
  OK(cuGraphAddDependencies(graph, &launched, &told, nullptr, 1));
  size_t edges = 0;
  OK(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  CHECK(edges == 3);
  CUgraphNode before[4];
  size_t places = 4;
  OK(cuGraphNodeGetDependencies(told, before, nullptr, &places));
  CHECK(places == 1 && before[0] == launched);

  CUgraphExec executable;
  CUDA_GRAPH_INSTANTIATE_PARAMS parameters = {};
  parameters.result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
  OK(cuGraphInstantiateWithParams(&executable, graph, &parameters));
  CHECK(parameters.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);
  OK(cuGraphLaunch(executable, nullptr));
  OK(cuCtxSynchronize());
  CHECK(called == 1 && host[0] == 3 && host[31] == 3);
  fill.value = 4;
  OK(cuGraphExecMemsetNodeSetParams(executable, filled, &fill, context));
  OK(cuGraphNodeSetEnabled(executable, launched, 0));
  OK(cuGraphLaunch(executable, nullptr));
  CHECK(called == 2 && host[31] == 4);
  CUgraph clone;
  CUgraphNode found;
  OK(cuGraphClone(&clone, graph));
  OK(cuGraphNodeFindInClone(&found, copied, clone));
  CUgraphNodeType type;
  OK(cuGraphNodeGetType(found, &type));
  CHECK(type == CU_GRAPH_NODE_TYPE_MEMCPY);
  OK(cuGraphRemoveDependencies(graph, &launched, &told, nullptr, 1));
  CHECK(cuGraphRemoveDependencies(graph, &launched, &told, nullptr, 1) == CUDA_ERROR_INVALID_VALUE);
  OK(cuGraphExecDestroy(executable));
  OK(cuGraphDestroy(clone));
  OK(cuGraphDestroy(graph));
  OK(cuDeviceGraphMemTrim(0));
  OK(cuMemFree(memory));
  OK(cuCtxDestroy(context));
  return 0;
}
