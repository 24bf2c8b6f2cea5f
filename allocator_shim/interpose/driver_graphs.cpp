// CUDA's driver: graphs, and what they say about their nodes, which are the runtime's.
#include <cstddef>

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
Status cudaGraphInstantiateWithFlags(ExecutableGraph** executable, Graph* graph,
                                     unsigned long long flags);
Status cudaGraphExecDestroy(ExecutableGraph* executable);
Status cudaGraphUpload(ExecutableGraph* executable, Stream* stream);
Status cudaGraphLaunch(ExecutableGraph* executable, Stream* stream);
Status cudaGraphExecUpdate(ExecutableGraph* executable, Graph* graph, UpdateResult* result);
Status cudaGraphGetNodes(Graph* graph, GraphNode** nodes, std::size_t* count);
Status cudaGraphGetRootNodes(Graph* graph, GraphNode** nodes, std::size_t* count);
Status cudaGraphNodeGetType(const GraphNode* node, NodeType* type);
Status cudaGraphAddEmptyNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                             std::size_t count);
Status cudaGraphAddKernelNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                              std::size_t count, const KernelParameters* parameters);
Status cudaGraphAddHostNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                            std::size_t count, const HostParameters* parameters);
Status cudaGraphDestroyNode(GraphNode* node);
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

OHM_EXPORTED Status cuGraphInstantiateWithFlags(ExecutableGraph** executable, Graph* graph,
                                                unsigned long long flags) {
  OHM_CONTEXT_CALL;
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}

OHM_EXPORTED Status cuGraphInstantiateWithParams(ExecutableGraph** executable, Graph* graph,
                                                 void* /*parameters*/) {
  OHM_CONTEXT_CALL;
  return cudaGraphInstantiateWithFlags(executable, graph, 0);
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

OHM_EXPORTED Status cuGraphNodeGetType(const GraphNode* node, NodeType* type) {
  OHM_CONTEXT_CALL;
  return cudaGraphNodeGetType(node, type);
}

OHM_EXPORTED Status cuGraphAddEmptyNode(GraphNode** node, Graph* graph,
                                        GraphNode* const* dependencies, std::size_t count) {
  OHM_CONTEXT_CALL;
  return cudaGraphAddEmptyNode(node, graph, dependencies, count);
}

/// Its parameters begin as the runtime's; what is wrong with them has one code.
OHM_EXPORTED Status cuGraphAddKernelNode_v2(GraphNode** node, Graph* graph,
                                            GraphNode* const* dependencies, std::size_t count,
                                            const KernelParameters* parameters) {
  OHM_CONTEXT_CALL;
  const Status status = cudaGraphAddKernelNode(node, graph, dependencies, count, parameters);
  const bool is_wrong =
      status == Status::invalid_device_function || status == Status::invalid_configuration;
  return is_wrong ? Status::invalid_value : status;
}

OHM_EXPORTED Status cuGraphAddHostNode(GraphNode** node, Graph* graph,
                                       GraphNode* const* dependencies, std::size_t count,
                                       const HostParameters* parameters) {
  OHM_CONTEXT_CALL;
  return cudaGraphAddHostNode(node, graph, dependencies, count, parameters);
}

OHM_EXPORTED Status cuGraphDestroyNode(GraphNode* node) {
  OHM_CONTEXT_CALL;
  return cudaGraphDestroyNode(node);
}
