// CUDA's runtime: nodes that programs add to graphs themselves.
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "allocator_shim/interpose/contexts.h"
#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/device_variables.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/graph_parameters.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/stub.h"
#include "allocator_shim/interpose/volume_copy.h"

using namespace ohm::interpose;
using ohm::DeviceAddress;

namespace {

/// What a new node is given: where its handle goes, and what comes before it.
struct NewNode {
  GraphNode** node;
  Graph* graph;
  GraphNode* const* dependencies;
  std::size_t count;

  bool is_right() const {
    if (node == nullptr || !graphs().is_alive(graph)) return false;
    if (count > 0 && dependencies == nullptr) return false;
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_here =
          graph_nodes().is_alive(dependencies[i]) && dependencies[i]->graph == graph;
      if (!is_here) return false;
    }
    return true;
  }
};

Status add(const NewNode& made, const NodeParameters& parameters) {
  const Status status = check_parameters(parameters);
  if (status != Status::success) return noted(status);
  if (!made.is_right()) return noted(Status::invalid_value);
  std::vector<GraphNode*> before;
  if (made.count > 0) before.assign(made.dependencies, made.dependencies + made.count);
  *made.node = made.graph->add(parameters.type, work_of(parameters), std::move(before));
  if (*made.node == nullptr) return noted(Status::out_of_memory);
  (*made.node)->given = std::make_shared<NodeParameters>(parameters);
  return Status::success;
}

}  // namespace

OHM_EXPORTED Status cudaGraphAddEmptyNode(GraphNode** node, Graph* graph,
                                          GraphNode* const* dependencies, std::size_t count) {
  OHM_RUNTIME_CALL;
  NodeParameters parameters = {};
  parameters.type = NodeType::empty;
  return add({node, graph, dependencies, count}, parameters);
}

OHM_EXPORTED Status cudaGraphAddKernelNode(GraphNode** node, Graph* graph,
                                           GraphNode* const* dependencies, std::size_t count,
                                           const KernelParameters* parameters) {
  OHM_RUNTIME_CALL;
  if (parameters == nullptr) return noted(Status::invalid_value);
  return add({node, graph, dependencies, count}, NodeParameters::of(*parameters));
}

OHM_EXPORTED Status cudaGraphAddMemcpyNode(GraphNode** node, Graph* graph,
                                           GraphNode* const* dependencies, std::size_t count,
                                           const VolumeCopy* copied) {
  OHM_RUNTIME_CALL;
  if (copied == nullptr) return noted(Status::invalid_value);
  return add({node, graph, dependencies, count}, NodeParameters::of(*copied));
}

OHM_EXPORTED Status cudaGraphAddMemcpyNode1D(GraphNode** node, Graph* graph,
                                             GraphNode* const* dependencies, std::size_t count,
                                             void* to, const void* from, std::size_t bytes,
                                             int kind) {
  OHM_RUNTIME_CALL;
  return add({node, graph, dependencies, count},
             NodeParameters::of(row_copy(to, from, bytes, kind)));
}

OHM_EXPORTED Status cudaGraphAddMemcpyNodeToSymbol(GraphNode** node, Graph* graph,
                                                   GraphNode* const* dependencies,
                                                   std::size_t count, const void* symbol,
                                                   const void* from, std::size_t bytes,
                                                   std::size_t offset, int kind) {
  OHM_RUNTIME_CALL;
  VolumeCopy copied = {};
  const Status status = copy_of_symbol(copied, {symbol, offset, from, nullptr, bytes, kind});
  if (status != Status::success) return noted(status);
  return add({node, graph, dependencies, count}, NodeParameters::of(copied));
}

OHM_EXPORTED Status cudaGraphAddMemcpyNodeFromSymbol(GraphNode** node, Graph* graph,
                                                     GraphNode* const* dependencies,
                                                     std::size_t count, void* to,
                                                     const void* symbol, std::size_t bytes,
                                                     std::size_t offset, int kind) {
  OHM_RUNTIME_CALL;
  VolumeCopy copied = {};
  const Status status = copy_of_symbol(copied, {symbol, offset, nullptr, to, bytes, kind});
  if (status != Status::success) return noted(status);
  return add({node, graph, dependencies, count}, NodeParameters::of(copied));
}

OHM_EXPORTED Status cudaGraphAddMemsetNode(GraphNode** node, Graph* graph,
                                           GraphNode* const* dependencies, std::size_t count,
                                           const FillParameters* parameters) {
  OHM_RUNTIME_CALL;
  if (parameters == nullptr) return noted(Status::invalid_value);
  return add({node, graph, dependencies, count}, NodeParameters::of(*parameters));
}

OHM_EXPORTED Status cudaGraphAddHostNode(GraphNode** node, Graph* graph,
                                         GraphNode* const* dependencies, std::size_t count,
                                         const HostParameters* parameters) {
  OHM_RUNTIME_CALL;
  if (parameters == nullptr) return noted(Status::invalid_value);
  return add({node, graph, dependencies, count}, NodeParameters::of(*parameters));
}

/// The node has a clone of the graph.
OHM_EXPORTED Status cudaGraphAddChildGraphNode(GraphNode** node, Graph* graph,
                                               GraphNode* const* dependencies, std::size_t count,
                                               Graph* child) {
  OHM_RUNTIME_CALL;
  if (!graphs().is_alive(child) || child == graph) return noted(Status::invalid_value);
  const Status status = add({node, graph, dependencies, count},
                            NodeParameters::of(NodeType::graph, &NodeParameters::graph, child));
  if (status == Status::success) (*node)->bodies = {child->clone()};
  return status;
}

OHM_EXPORTED Status cudaGraphAddEventRecordNode(GraphNode** node, Graph* graph,
                                                GraphNode* const* dependencies, std::size_t count,
                                                Event* event) {
  OHM_RUNTIME_CALL;
  return add({node, graph, dependencies, count},
             NodeParameters::of(NodeType::event_record, &NodeParameters::event, event));
}

OHM_EXPORTED Status cudaGraphAddEventWaitNode(GraphNode** node, Graph* graph,
                                              GraphNode* const* dependencies, std::size_t count,
                                              Event* event) {
  OHM_RUNTIME_CALL;
  return add({node, graph, dependencies, count},
             NodeParameters::of(NodeType::event_wait, &NodeParameters::event, event));
}

/// Its memory is taken when the node is made, and stays with the graphs of the GPU.
OHM_EXPORTED Status cudaGraphAddMemAllocNode(GraphNode** node, Graph* graph,
                                             GraphNode* const* dependencies, std::size_t count,
                                             AllocationParameters* parameters) {
  OHM_RUNTIME_CALL;
  if (parameters == nullptr || parameters->bytes == 0) return noted(Status::invalid_value);
  const NewNode made = {node, graph, dependencies, count};
  if (!made.is_right()) return noted(Status::invalid_value);
  MemoryPool* const pool = gpus().graph_pool(parameters->device);
  if (pool == nullptr) return noted(Status::invalid_device);
  DeviceAddress address = 0;
  const Status status = gpus().allocate_from(pool, parameters->bytes, current_context(), address);
  if (status != Status::success) return noted(status);
  parameters->pointer = reinterpret_cast<void*>(address);
  return add(made,
             NodeParameters::of(NodeType::allocation, &NodeParameters::allocation, *parameters));
}

/// Later nodes may have the memory.
OHM_EXPORTED Status cudaGraphAddMemFreeNode(GraphNode** node, Graph* graph,
                                            GraphNode* const* dependencies, std::size_t count,
                                            void* pointer) {
  OHM_RUNTIME_CALL;
  const NewNode made = {node, graph, dependencies, count};
  if (!made.is_right()) return noted(Status::invalid_value);
  const Status status = gpus().free(reinterpret_cast<DeviceAddress>(pointer));
  if (status != Status::success) return noted(status);
  return add(made, NodeParameters::of(NodeType::free, &NodeParameters::freed, pointer));
}

/// `pFlags`: whether a launch begins with the value, as it always does here.
OHM_EXPORTED Status cudaGraphConditionalHandleCreate(Condition** handle, Graph* graph,
                                                     unsigned value, unsigned flags) {
  OHM_RUNTIME_CALL;
  constexpr unsigned kAssignsDefault = 1;
  const bool is_right = handle != nullptr && graphs().is_alive(graph) && flags <= kAssignsDefault;
  if (!is_right) return noted(Status::invalid_value);
  *handle = conditions().create(flags == kAssignsDefault ? value : 0);
  return *handle != nullptr ? Status::success : noted(Status::out_of_memory);
}

namespace {

bool has_right_size(const ConditionParameters& condition) {
  constexpr unsigned kBranches = 2;
  switch (condition.type) {
    case ConditionParameters::Type::branch:
      return condition.size >= 1 && condition.size <= kBranches;
    case ConditionParameters::Type::loop:
      return condition.size == 1;
    case ConditionParameters::Type::choice:
      return condition.size >= 1;
  }
  return false;
}

/// A program fills the graphs that it is told of.
Status add_condition(const NewNode& made, ConditionParameters& condition) {
  const bool is_right = conditions().is_alive(condition.handle) && has_right_size(condition);
  if (!is_right) return noted(Status::invalid_value);
  const Status status =
      add(made, NodeParameters::of(NodeType::condition, &NodeParameters::condition, condition));
  if (status != Status::success) return status;
  std::vector<Graph*>& bodies = (*made.node)->bodies;
  for (unsigned i = 0; i < condition.size; ++i) bodies.push_back(graphs().create());
  condition.bodies = bodies.data();
  return Status::success;
}

}  // namespace

OHM_EXPORTED Status cudaGraphAddNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                     const void* /*edges*/, std::size_t count,
                                     NodeParameters* parameters) {
  OHM_RUNTIME_CALL;
  if (parameters == nullptr) return noted(Status::invalid_value);
  const NewNode made = {node, graph, dependencies, count};
  switch (parameters->type) {
    case NodeType::kernel:
      return add(made, NodeParameters::of(parameters->kernel));
    case NodeType::copy:
      return add(made, NodeParameters::of(parameters->copy.copied));
    case NodeType::fill:
      return add(made, NodeParameters::of(parameters->fill));
    case NodeType::host:
      return add(made, NodeParameters::of(parameters->host));
    case NodeType::graph:
      return cudaGraphAddChildGraphNode(node, graph, dependencies, count, parameters->graph);
    case NodeType::empty:
      return cudaGraphAddEmptyNode(node, graph, dependencies, count);
    case NodeType::event_wait:
      return cudaGraphAddEventWaitNode(node, graph, dependencies, count, parameters->event);
    case NodeType::event_record:
      return cudaGraphAddEventRecordNode(node, graph, dependencies, count, parameters->event);
    case NodeType::allocation:
      return cudaGraphAddMemAllocNode(node, graph, dependencies, count, &parameters->allocation);
    case NodeType::free:
      return cudaGraphAddMemFreeNode(node, graph, dependencies, count, parameters->freed);
    case NodeType::condition:
      return add_condition(made, parameters->condition);
  }
  report_unsupported("cudaGraphAddNode");
  return noted(Status::not_supported);
}

OHM_EXPORTED Status cudaGraphDestroyNode(GraphNode* node) {
  OHM_RUNTIME_CALL;
  if (!graph_nodes().is_alive(node)) return noted(Status::invalid_value);
  node->graph->remove(node);
  return Status::success;
}
