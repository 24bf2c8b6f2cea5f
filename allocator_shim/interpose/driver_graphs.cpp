// CUDA's driver: graphs, and what they say about their nodes, which are the runtime's.
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/graph_parameters.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"

using namespace ohm::interpose;

extern "C" {
Status cudaGraphCreate(Graph** graph, unsigned flags);
Status cudaGraphClone(Graph** clone, Graph* graph);
Status cudaGraphDestroy(Graph* graph);
Status cudaGraphNodeFindInClone(GraphNode** found, const GraphNode* source, Graph* clone);
Status cudaGraphInstantiateWithFlags(ExecutableGraph** executable, Graph* graph,
                                     unsigned long long flags);
Status cudaGraphInstantiateWithParams(ExecutableGraph** executable, Graph* graph,
                                      InstantiationParameters* parameters);
Status cudaGraphExecGetFlags(ExecutableGraph* executable, unsigned long long* flags);
Status cudaGraphExecDestroy(ExecutableGraph* executable);
Status cudaGraphUpload(ExecutableGraph* executable, Stream* stream);
Status cudaGraphLaunch(ExecutableGraph* executable, Stream* stream);
Status cudaGraphExecUpdate(ExecutableGraph* executable, Graph* graph, UpdateResult* result);
Status cudaGraphGetNodes(Graph* graph, GraphNode** nodes, std::size_t* count);
Status cudaGraphGetRootNodes(Graph* graph, GraphNode** nodes, std::size_t* count);
Status cudaGraphGetEdges(Graph* graph, GraphNode** from, GraphNode** to, void* edges,
                         std::size_t* count);
Status add_dependencies_13(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                           const void* edges, std::size_t count);
Status remove_dependencies_13(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                              const void* edges, std::size_t count);
Status cudaGraphNodeGetType(const GraphNode* node, NodeType* type);
Status node_dependencies_13(const GraphNode* node, GraphNode** dependencies, void* edges,
                            std::size_t* count);
Status cudaGraphNodeGetDependentNodes(const GraphNode* node, GraphNode** nodes, void* edges,
                                      std::size_t* count);
Status cudaGraphDebugDotPrint(Graph* graph, const char* path, unsigned flags);
Status cudaDeviceGraphMemTrim(int device);
Status cudaDeviceGetGraphMemAttribute(int device, int attribute, std::uint64_t* value);
Status cudaDeviceSetGraphMemAttribute(int device, int attribute, const std::uint64_t* value);
}

OHM_EXPORTED Status cuGraphCreate(Graph** graph, unsigned flags) {
  OHM_CONTEXT_CALL;
  return cudaGraphCreate(graph, flags);
}

OHM_EXPORTED Status cuGraphClone(Graph** clone, Graph* graph) {
  OHM_CONTEXT_CALL;
  return cudaGraphClone(clone, graph);
}

OHM_EXPORTED Status cuGraphDestroy(Graph* graph) {
  OHM_CONTEXT_CALL;
  return cudaGraphDestroy(graph);
}

OHM_EXPORTED Status cuGraphNodeFindInClone(GraphNode** found, const GraphNode* source,
                                           Graph* clone) {
  OHM_CONTEXT_CALL;
  return cudaGraphNodeFindInClone(found, source, clone);
}

OHM_EXPORTED Status cuGraphInstantiateWithFlags(ExecutableGraph** executable, Graph* graph,
                                                unsigned long long flags) {
  OHM_CONTEXT_CALL;
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}

OHM_EXPORTED Status cuGraphInstantiateWithParams(ExecutableGraph** executable, Graph* graph,
                                                 InstantiationParameters* parameters) {
  OHM_CONTEXT_CALL;
  return cudaGraphInstantiateWithParams(executable, graph, parameters);
}

OHM_EXPORTED Status cuGraphExecGetFlags(ExecutableGraph* executable, unsigned long long* flags) {
  OHM_CONTEXT_CALL;
  return cudaGraphExecGetFlags(executable, flags);
}

OHM_EXPORTED Status cuGraphExecDestroy(ExecutableGraph* executable) {
  OHM_CONTEXT_CALL;
  return cudaGraphExecDestroy(executable);
}

OHM_EXPORTED Status cuGraphUpload(ExecutableGraph* executable, Stream* stream) {
  OHM_CONTEXT_CALL;
  return cudaGraphUpload(executable, stream);
}

OHM_EXPORTED Status cuGraphLaunch(ExecutableGraph* executable, Stream* stream) {
  OHM_CONTEXT_CALL;
  return cudaGraphLaunch(executable, stream);
}

OHM_EXPORTED Status cuGraphExecUpdate_v2(ExecutableGraph* executable, Graph* graph,
                                         UpdateResult* result) {
  OHM_CONTEXT_CALL;
  return cudaGraphExecUpdate(executable, graph, result);
}

OHM_EXPORTED Status cuGraphGetNodes(Graph* graph, GraphNode** nodes, std::size_t* count) {
  OHM_CONTEXT_CALL;
  return cudaGraphGetNodes(graph, nodes, count);
}

OHM_EXPORTED Status cuGraphGetRootNodes(Graph* graph, GraphNode** nodes, std::size_t* count) {
  OHM_CONTEXT_CALL;
  return cudaGraphGetRootNodes(graph, nodes, count);
}

OHM_EXPORTED Status cuGraphGetEdges_v2(Graph* graph, GraphNode** from, GraphNode** to, void* edges,
                                       std::size_t* count) {
  OHM_CONTEXT_CALL;
  return cudaGraphGetEdges(graph, from, to, edges, count);
}

OHM_EXPORTED Status cuGraphAddDependencies_v2(Graph* graph, GraphNode* const* from,
                                              GraphNode* const* to, const void* edges,
                                              std::size_t count) {
  OHM_CONTEXT_CALL;
  return add_dependencies_13(graph, from, to, edges, count);
}

OHM_EXPORTED Status cuGraphRemoveDependencies_v2(Graph* graph, GraphNode* const* from,
                                                 GraphNode* const* to, const void* edges,
                                                 std::size_t count) {
  OHM_CONTEXT_CALL;
  return remove_dependencies_13(graph, from, to, edges, count);
}

OHM_EXPORTED Status cuGraphNodeGetType(const GraphNode* node, NodeType* type) {
  OHM_CONTEXT_CALL;
  return cudaGraphNodeGetType(node, type);
}

OHM_EXPORTED Status cuGraphNodeGetDependencies_v2(const GraphNode* node, GraphNode** dependencies,
                                                  void* edges, std::size_t* count) {
  OHM_CONTEXT_CALL;
  return node_dependencies_13(node, dependencies, edges, count);
}

OHM_EXPORTED Status cuGraphNodeGetDependentNodes_v2(const GraphNode* node, GraphNode** nodes,
                                                    void* edges, std::size_t* count) {
  OHM_CONTEXT_CALL;
  return cudaGraphNodeGetDependentNodes(node, nodes, edges, count);
}

OHM_EXPORTED Status cuGraphDebugDotPrint(Graph* graph, const char* path, unsigned flags) {
  OHM_CONTEXT_CALL;
  return cudaGraphDebugDotPrint(graph, path, flags);
}

OHM_EXPORTED Status cuDeviceGraphMemTrim(int device) {
  OHM_DRIVER_CALL;
  return cudaDeviceGraphMemTrim(device);
}

OHM_EXPORTED Status cuDeviceGetGraphMemAttribute(int device, int attribute, std::uint64_t* value) {
  OHM_DRIVER_CALL;
  return cudaDeviceGetGraphMemAttribute(device, attribute, value);
}

OHM_EXPORTED Status cuDeviceSetGraphMemAttribute(int device, int attribute,
                                                 const std::uint64_t* value) {
  OHM_DRIVER_CALL;
  return cudaDeviceSetGraphMemAttribute(device, attribute, value);
}
