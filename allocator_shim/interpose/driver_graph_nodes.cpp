// CUDA's driver: nodes of graphs and their parameters, which are the runtime's.
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/driver_copies.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/graph_parameters.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"

using namespace ohm::interpose;

extern "C" {
Status cudaGraphAddEmptyNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                             std::size_t count);
Status cudaGraphAddKernelNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                              std::size_t count, const KernelParameters* parameters);
Status cudaGraphAddMemcpyNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                              std::size_t count, const VolumeCopy* copied);
Status cudaGraphAddMemsetNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                              std::size_t count, const FillParameters* parameters);
Status cudaGraphAddHostNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                            std::size_t count, const HostParameters* parameters);
Status cudaGraphAddChildGraphNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                  std::size_t count, Graph* child);
Status cudaGraphAddEventRecordNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                   std::size_t count, Event* event);
Status cudaGraphAddEventWaitNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                 std::size_t count, Event* event);
Status cudaGraphAddMemAllocNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                std::size_t count, AllocationParameters* parameters);
Status cudaGraphAddMemFreeNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                               std::size_t count, void* pointer);
Status cudaGraphAddNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                        const void* edges, std::size_t count, NodeParameters* parameters);
Status cudaGraphKernelNodeGetParams(const GraphNode* node, KernelParameters* parameters);
Status cudaGraphKernelNodeSetParams(GraphNode* node, const KernelParameters* parameters);
Status cudaGraphExecKernelNodeSetParams(ExecutableGraph* executable, const GraphNode* node,
                                        const KernelParameters* parameters);
Status cudaGraphMemcpyNodeGetParams(const GraphNode* node, VolumeCopy* copied);
Status cudaGraphMemcpyNodeSetParams(GraphNode* node, const VolumeCopy* copied);
Status cudaGraphExecMemcpyNodeSetParams(ExecutableGraph* executable, const GraphNode* node,
                                        const VolumeCopy* copied);
Status cudaGraphMemsetNodeGetParams(const GraphNode* node, FillParameters* parameters);
Status cudaGraphMemsetNodeSetParams(GraphNode* node, const FillParameters* parameters);
Status cudaGraphExecMemsetNodeSetParams(ExecutableGraph* executable, const GraphNode* node,
                                        const FillParameters* parameters);
Status cudaGraphHostNodeGetParams(const GraphNode* node, HostParameters* parameters);
Status cudaGraphHostNodeSetParams(GraphNode* node, const HostParameters* parameters);
Status cudaGraphExecHostNodeSetParams(ExecutableGraph* executable, const GraphNode* node,
                                      const HostParameters* parameters);
Status cudaGraphEventRecordNodeGetEvent(const GraphNode* node, Event** event);
Status cudaGraphEventRecordNodeSetEvent(GraphNode* node, Event* event);
Status cudaGraphExecEventRecordNodeSetEvent(ExecutableGraph* executable, const GraphNode* node,
                                            Event* event);
Status cudaGraphEventWaitNodeGetEvent(const GraphNode* node, Event** event);
Status cudaGraphEventWaitNodeSetEvent(GraphNode* node, Event* event);
Status cudaGraphExecEventWaitNodeSetEvent(ExecutableGraph* executable, const GraphNode* node,
                                          Event* event);
Status cudaGraphMemAllocNodeGetParams(const GraphNode* node, AllocationParameters* parameters);
Status cudaGraphMemFreeNodeGetParams(const GraphNode* node, void** pointer);
Status cudaGraphChildGraphNodeGetGraph(const GraphNode* node, Graph** child);
Status cudaGraphExecChildGraphNodeSetParams(ExecutableGraph* executable, const GraphNode* node,
                                            Graph* child);
Status cudaGraphKernelNodeGetAttribute(const GraphNode* node, int attribute,
                                       LaunchAttributeValue* value);
Status cudaGraphKernelNodeSetAttribute(GraphNode* node, int attribute,
                                       const LaunchAttributeValue* value);
Status cudaGraphKernelNodeCopyAttributes(GraphNode* to, const GraphNode* from);
Status cudaGraphNodeSetEnabled(ExecutableGraph* executable, const GraphNode* node,
                               unsigned is_enabled);
Status cudaGraphNodeGetEnabled(ExecutableGraph* executable, const GraphNode* node,
                               unsigned* is_enabled);
Status cudaGraphConditionalHandleCreate(Condition** handle, Graph* graph, unsigned value,
                                        unsigned flags);
Status cudaGraphDestroyNode(GraphNode* node);
}

namespace {

/// CUDA_KERNEL_NODE_PARAMS: a kernel of a library may be given instead of a function.
struct DriverKernelParameters {
  KernelParameters common;
  const void* kernel;
  void* context;

  KernelParameters whole() const {
    KernelParameters made = common;
    if (made.function == nullptr) made.function = kernel;
    return made;
  }
};

/// CUDA_MEMCPY_NODE_PARAMS, in CUgraphNodeParams.
struct SpaceCopyParameters {
  NodeType type;
  std::int32_t reserved[3];
  std::uint64_t flags;
  void* context;
  SpaceCopy copied;
};

/// What is wrong with parameters has one code.
Status driver_code(Status status) {
  const bool is_wrong = status == Status::invalid_device_function ||
                        status == Status::invalid_configuration ||
                        status == Status::invalid_copy_direction;
  return is_wrong ? Status::invalid_value : status;
}

}  // namespace

OHM_EXPORTED Status cuGraphAddEmptyNode(GraphNode** node, Graph* graph,
                                        GraphNode* const* dependencies, std::size_t count) {
  OHM_CONTEXT_CALL;
  return cudaGraphAddEmptyNode(node, graph, dependencies, count);
}

OHM_EXPORTED Status cuGraphAddKernelNode_v2(GraphNode** node, Graph* graph,
                                            GraphNode* const* dependencies, std::size_t count,
                                            const DriverKernelParameters* parameters) {
  OHM_CONTEXT_CALL;
  if (parameters == nullptr) return Status::invalid_value;
  const KernelParameters launched = parameters->whole();
  return driver_code(cudaGraphAddKernelNode(node, graph, dependencies, count, &launched));
}

OHM_EXPORTED Status cuGraphAddMemcpyNode(GraphNode** node, Graph* graph,
                                         GraphNode* const* dependencies, std::size_t count,
                                         const SpaceCopy* copied, void* /*context*/) {
  OHM_CONTEXT_CALL;
  if (copied == nullptr) return Status::invalid_value;
  const VolumeCopy volume = volume_of(*copied);
  return driver_code(cudaGraphAddMemcpyNode(node, graph, dependencies, count, &volume));
}

OHM_EXPORTED Status cuGraphAddMemsetNode(GraphNode** node, Graph* graph,
                                         GraphNode* const* dependencies, std::size_t count,
                                         const FillParameters* parameters, void* /*context*/) {
  OHM_CONTEXT_CALL;
  return cudaGraphAddMemsetNode(node, graph, dependencies, count, parameters);
}

OHM_EXPORTED Status cuGraphAddHostNode(GraphNode** node, Graph* graph,
                                       GraphNode* const* dependencies, std::size_t count,
                                       const HostParameters* parameters) {
  OHM_CONTEXT_CALL;
  return cudaGraphAddHostNode(node, graph, dependencies, count, parameters);
}

OHM_EXPORTED Status cuGraphAddChildGraphNode(GraphNode** node, Graph* graph,
                                             GraphNode* const* dependencies, std::size_t count,
                                             Graph* child) {
  OHM_CONTEXT_CALL;
  return cudaGraphAddChildGraphNode(node, graph, dependencies, count, child);
}

OHM_EXPORTED Status cuGraphAddEventRecordNode(GraphNode** node, Graph* graph,
                                              GraphNode* const* dependencies, std::size_t count,
                                              Event* event) {
  OHM_CONTEXT_CALL;
  return cudaGraphAddEventRecordNode(node, graph, dependencies, count, event);
}

OHM_EXPORTED Status cuGraphAddEventWaitNode(GraphNode** node, Graph* graph,
                                            GraphNode* const* dependencies, std::size_t count,
                                            Event* event) {
  OHM_CONTEXT_CALL;
  return cudaGraphAddEventWaitNode(node, graph, dependencies, count, event);
}

OHM_EXPORTED Status cuGraphAddMemAllocNode(GraphNode** node, Graph* graph,
                                           GraphNode* const* dependencies, std::size_t count,
                                           AllocationParameters* parameters) {
  OHM_CONTEXT_CALL;
  return cudaGraphAddMemAllocNode(node, graph, dependencies, count, parameters);
}

OHM_EXPORTED Status cuGraphAddMemFreeNode(GraphNode** node, Graph* graph,
                                          GraphNode* const* dependencies, std::size_t count,
                                          void* pointer) {
  OHM_CONTEXT_CALL;
  return cudaGraphAddMemFreeNode(node, graph, dependencies, count, pointer);
}

/// Only copies are described in another way than to the runtime.
OHM_EXPORTED Status cuGraphAddNode_v2(GraphNode** node, Graph* graph,
                                      GraphNode* const* dependencies, const void* edges,
                                      std::size_t count, NodeParameters* parameters) {
  OHM_CONTEXT_CALL;
  if (parameters == nullptr) return Status::invalid_value;
  if (parameters->type == NodeType::copy) {
    const auto* const space = reinterpret_cast<const SpaceCopyParameters*>(parameters);
    const VolumeCopy volume = volume_of(space->copied);
    return driver_code(cudaGraphAddMemcpyNode(node, graph, dependencies, count, &volume));
  }
  return driver_code(cudaGraphAddNode(node, graph, dependencies, edges, count, parameters));
}

OHM_EXPORTED Status cuGraphKernelNodeGetParams_v2(const GraphNode* node,
                                                  DriverKernelParameters* parameters) {
  OHM_CONTEXT_CALL;
  KernelParameters told = {};
  const Status status = cudaGraphKernelNodeGetParams(node, &told);
  if (status != Status::success) return status;
  if (parameters == nullptr) return Status::invalid_value;
  *parameters = {told, nullptr, nullptr};
  return Status::success;
}

OHM_EXPORTED Status cuGraphKernelNodeSetParams_v2(GraphNode* node,
                                                  const DriverKernelParameters* parameters) {
  OHM_CONTEXT_CALL;
  if (parameters == nullptr) return Status::invalid_value;
  const KernelParameters launched = parameters->whole();
  return driver_code(cudaGraphKernelNodeSetParams(node, &launched));
}

OHM_EXPORTED Status cuGraphExecKernelNodeSetParams_v2(ExecutableGraph* executable,
                                                      const GraphNode* node,
                                                      const DriverKernelParameters* parameters) {
  OHM_CONTEXT_CALL;
  if (parameters == nullptr) return Status::invalid_value;
  const KernelParameters launched = parameters->whole();
  return driver_code(cudaGraphExecKernelNodeSetParams(executable, node, &launched));
}

OHM_EXPORTED Status cuGraphMemcpyNodeGetParams(const GraphNode* node, SpaceCopy* copied) {
  OHM_CONTEXT_CALL;
  VolumeCopy told = {};
  const Status status = cudaGraphMemcpyNodeGetParams(node, &told);
  if (status != Status::success) return status;
  if (copied == nullptr) return Status::invalid_value;
  *copied = space_of(told);
  return Status::success;
}

OHM_EXPORTED Status cuGraphMemcpyNodeSetParams(GraphNode* node, const SpaceCopy* copied) {
  OHM_CONTEXT_CALL;
  if (copied == nullptr) return Status::invalid_value;
  const VolumeCopy volume = volume_of(*copied);
  return driver_code(cudaGraphMemcpyNodeSetParams(node, &volume));
}

OHM_EXPORTED Status cuGraphExecMemcpyNodeSetParams(ExecutableGraph* executable,
                                                   const GraphNode* node, const SpaceCopy* copied,
                                                   void* /*context*/) {
  OHM_CONTEXT_CALL;
  if (copied == nullptr) return Status::invalid_value;
  const VolumeCopy volume = volume_of(*copied);
  return driver_code(cudaGraphExecMemcpyNodeSetParams(executable, node, &volume));
}

OHM_EXPORTED Status cuGraphMemsetNodeGetParams(const GraphNode* node, FillParameters* parameters) {
  OHM_CONTEXT_CALL;
  return cudaGraphMemsetNodeGetParams(node, parameters);
}

OHM_EXPORTED Status cuGraphMemsetNodeSetParams(GraphNode* node, const FillParameters* parameters) {
  OHM_CONTEXT_CALL;
  return cudaGraphMemsetNodeSetParams(node, parameters);
}

OHM_EXPORTED Status cuGraphExecMemsetNodeSetParams(ExecutableGraph* executable,
                                                   const GraphNode* node,
                                                   const FillParameters* parameters,
                                                   void* /*context*/) {
  OHM_CONTEXT_CALL;
  return cudaGraphExecMemsetNodeSetParams(executable, node, parameters);
}

OHM_EXPORTED Status cuGraphHostNodeGetParams(const GraphNode* node, HostParameters* parameters) {
  OHM_CONTEXT_CALL;
  return cudaGraphHostNodeGetParams(node, parameters);
}

OHM_EXPORTED Status cuGraphHostNodeSetParams(GraphNode* node, const HostParameters* parameters) {
  OHM_CONTEXT_CALL;
  return cudaGraphHostNodeSetParams(node, parameters);
}

OHM_EXPORTED Status cuGraphExecHostNodeSetParams(ExecutableGraph* executable, const GraphNode* node,
                                                 const HostParameters* parameters) {
  OHM_CONTEXT_CALL;
  return cudaGraphExecHostNodeSetParams(executable, node, parameters);
}

OHM_EXPORTED Status cuGraphEventRecordNodeGetEvent(const GraphNode* node, Event** event) {
  OHM_CONTEXT_CALL;
  return cudaGraphEventRecordNodeGetEvent(node, event);
}

OHM_EXPORTED Status cuGraphEventRecordNodeSetEvent(GraphNode* node, Event* event) {
  OHM_CONTEXT_CALL;
  return cudaGraphEventRecordNodeSetEvent(node, event);
}

OHM_EXPORTED Status cuGraphExecEventRecordNodeSetEvent(ExecutableGraph* executable,
                                                       const GraphNode* node, Event* event) {
  OHM_CONTEXT_CALL;
  return cudaGraphExecEventRecordNodeSetEvent(executable, node, event);
}

OHM_EXPORTED Status cuGraphEventWaitNodeGetEvent(const GraphNode* node, Event** event) {
  OHM_CONTEXT_CALL;
  return cudaGraphEventWaitNodeGetEvent(node, event);
}

OHM_EXPORTED Status cuGraphEventWaitNodeSetEvent(GraphNode* node, Event* event) {
  OHM_CONTEXT_CALL;
  return cudaGraphEventWaitNodeSetEvent(node, event);
}

OHM_EXPORTED Status cuGraphExecEventWaitNodeSetEvent(ExecutableGraph* executable,
                                                     const GraphNode* node, Event* event) {
  OHM_CONTEXT_CALL;
  return cudaGraphExecEventWaitNodeSetEvent(executable, node, event);
}

OHM_EXPORTED Status cuGraphMemAllocNodeGetParams(const GraphNode* node,
                                                 AllocationParameters* parameters) {
  OHM_CONTEXT_CALL;
  return cudaGraphMemAllocNodeGetParams(node, parameters);
}

OHM_EXPORTED Status cuGraphMemFreeNodeGetParams(const GraphNode* node, void** pointer) {
  OHM_CONTEXT_CALL;
  return cudaGraphMemFreeNodeGetParams(node, pointer);
}

OHM_EXPORTED Status cuGraphChildGraphNodeGetGraph(const GraphNode* node, Graph** child) {
  OHM_CONTEXT_CALL;
  return cudaGraphChildGraphNodeGetGraph(node, child);
}

OHM_EXPORTED Status cuGraphExecChildGraphNodeSetParams(ExecutableGraph* executable,
                                                       const GraphNode* node, Graph* child) {
  OHM_CONTEXT_CALL;
  return cudaGraphExecChildGraphNodeSetParams(executable, node, child);
}

OHM_EXPORTED Status cuGraphKernelNodeGetAttribute(const GraphNode* node, int attribute,
                                                  LaunchAttributeValue* value) {
  OHM_CONTEXT_CALL;
  return cudaGraphKernelNodeGetAttribute(node, attribute, value);
}

OHM_EXPORTED Status cuGraphKernelNodeSetAttribute(GraphNode* node, int attribute,
                                                  const LaunchAttributeValue* value) {
  OHM_CONTEXT_CALL;
  return cudaGraphKernelNodeSetAttribute(node, attribute, value);
}

OHM_EXPORTED Status cuGraphKernelNodeCopyAttributes(GraphNode* to, const GraphNode* from) {
  OHM_CONTEXT_CALL;
  return cudaGraphKernelNodeCopyAttributes(to, from);
}

OHM_EXPORTED Status cuGraphNodeSetEnabled(ExecutableGraph* executable, const GraphNode* node,
                                          unsigned is_enabled) {
  OHM_CONTEXT_CALL;
  return cudaGraphNodeSetEnabled(executable, node, is_enabled);
}

OHM_EXPORTED Status cuGraphNodeGetEnabled(ExecutableGraph* executable, const GraphNode* node,
                                          unsigned* is_enabled) {
  OHM_CONTEXT_CALL;
  return cudaGraphNodeGetEnabled(executable, node, is_enabled);
}

OHM_EXPORTED Status cuGraphConditionalHandleCreate(Condition** handle, Graph* graph,
                                                   void* /*context*/, unsigned value,
                                                   unsigned flags) {
  OHM_CONTEXT_CALL;
  return cudaGraphConditionalHandleCreate(handle, graph, value, flags);
}

OHM_EXPORTED Status cuGraphDestroyNode(GraphNode* node) {
  OHM_CONTEXT_CALL;
  return cudaGraphDestroyNode(node);
}
