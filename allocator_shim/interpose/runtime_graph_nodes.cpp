// CUDA's runtime: nodes that programs add to graphs themselves.
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "allocator_shim/interpose/contexts.h"
#include "allocator_shim/interpose/copies.h"
#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/graph_parameters.h"
#include "allocator_shim/interpose/launch_limits.h"
#include "allocator_shim/interpose/modules.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/registered_kernels.h"
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

Status add(const NewNode& made, NodeType type, NodeWork work = {}) {
  if (!made.is_right()) return noted(Status::invalid_value);
  std::vector<GraphNode*> before;
  if (made.count > 0) before.assign(made.dependencies, made.dependencies + made.count);
  *made.node = made.graph->add(type, std::move(work), std::move(before));
  return *made.node != nullptr ? Status::success : noted(Status::out_of_memory);
}

bool is_launchable(const KernelParameters& parameters) {
  return is_registered(parameters.function) ||
         is_kernel(static_cast<const Kernel*>(parameters.function));
}

Status check_kernel(const KernelParameters* parameters) {
  if (parameters == nullptr) return Status::invalid_value;
  if (!is_launchable(*parameters)) return Status::invalid_device_function;
  return check_launch(LaunchApi::runtime, parameters->grid, parameters->block,
                      parameters->shared_bytes);
}

bool is_node_of_type(const GraphNode* node, NodeType type) {
  return graph_nodes().is_alive(node) && node->type == type;
}

bool can_be_disabled(NodeType type) {
  return type == NodeType::kernel || type == NodeType::copy || type == NodeType::fill;
}

/// nullptr: there is no such graph, or node of it.
ExecutableGraph::Node* executable_node(ExecutableGraph* executable, const GraphNode* node) {
  return executable_graphs().is_alive(executable) ? executable->node_of(node) : nullptr;
}

/// Another work for a node of this type.
Status set_work(ExecutableGraph* executable, const GraphNode* node, NodeType type, bool is_right,
                NodeWork work) {
  auto* const known = executable_node(executable, node);
  if (known == nullptr || known->type != type || !is_right) return noted(Status::invalid_value);
  known->work = std::move(work);
  return Status::success;
}

}  // namespace

OHM_EXPORTED Status cudaGraphAddEmptyNode(GraphNode** node, Graph* graph,
                                          GraphNode* const* dependencies, std::size_t count) {
  OHM_RUNTIME_CALL;
  return add({node, graph, dependencies, count}, NodeType::empty);
}

OHM_EXPORTED Status cudaGraphAddKernelNode(GraphNode** node, Graph* graph,
                                           GraphNode* const* dependencies, std::size_t count,
                                           const KernelParameters* parameters) {
  OHM_RUNTIME_CALL;
  const Status status = check_kernel(parameters);
  if (status != Status::success) return noted(status);
  const Status added = add({node, graph, dependencies, count}, NodeType::kernel);
  if (added == Status::success) (*node)->kernel = std::make_shared<KernelParameters>(*parameters);
  return added;
}

/// What a capture recorded is not known: how many arguments a kernel has is in its code.
OHM_EXPORTED Status cudaGraphKernelNodeGetParams(const GraphNode* node,
                                                 KernelParameters* parameters) {
  OHM_RUNTIME_CALL;
  if (!is_node_of_type(node, NodeType::kernel) || parameters == nullptr) {
    return noted(Status::invalid_value);
  }
  if (node->kernel == nullptr) {
    report_unsupported("cudaGraphKernelNodeGetParams");
    return noted(Status::not_supported);
  }
  *parameters = *node->kernel;
  return Status::success;
}

OHM_EXPORTED Status cudaGraphKernelNodeSetParams(GraphNode* node,
                                                 const KernelParameters* parameters) {
  OHM_RUNTIME_CALL;
  if (!is_node_of_type(node, NodeType::kernel)) return noted(Status::invalid_value);
  const Status status = check_kernel(parameters);
  if (status == Status::success) node->kernel = std::make_shared<KernelParameters>(*parameters);
  return noted(status);
}

OHM_EXPORTED Status cudaGraphExecKernelNodeSetParams(ExecutableGraph* executable,
                                                     const GraphNode* node,
                                                     const KernelParameters* parameters) {
  OHM_RUNTIME_CALL;
  const auto* const known = executable_node(executable, node);
  if (known == nullptr || known->type != NodeType::kernel) return noted(Status::invalid_value);
  return noted(check_kernel(parameters));
}

OHM_EXPORTED Status cudaGraphExecMemcpyNodeSetParams1D(ExecutableGraph* executable,
                                                       const GraphNode* node, void* to,
                                                       const void* from, std::size_t bytes,
                                                       int kind) {
  OHM_RUNTIME_CALL;
  if (kind < 0 || kind > static_cast<int>(Direction::unified)) {
    return noted(Status::invalid_copy_direction);
  }
  const bool is_right = to != nullptr && from != nullptr;
  return set_work(executable, node, NodeType::copy, is_right,
                  [=] { copy(to, from, bytes, static_cast<Direction>(kind)); });
}

OHM_EXPORTED Status cudaGraphExecMemsetNodeSetParams(ExecutableGraph* executable,
                                                     const GraphNode* node,
                                                     const FillParameters* parameters) {
  OHM_RUNTIME_CALL;
  if (parameters == nullptr) return noted(Status::invalid_value);
  return set_work(executable, node, NodeType::fill, parameters->is_possible(),
                  [filled = *parameters] { filled.fill_all(); });
}

OHM_EXPORTED Status cudaGraphExecHostNodeSetParams(ExecutableGraph* executable,
                                                   const GraphNode* node,
                                                   const HostParameters* parameters) {
  OHM_RUNTIME_CALL;
  if (parameters == nullptr) return noted(Status::invalid_value);
  return set_work(executable, node, NodeType::host, parameters->function != nullptr,
                  [called = *parameters] { called.function(called.data); });
}

/// Of kernels, copies and fills.
OHM_EXPORTED Status cudaGraphNodeSetEnabled(ExecutableGraph* executable, const GraphNode* node,
                                            unsigned is_enabled) {
  OHM_RUNTIME_CALL;
  auto* const known = executable_node(executable, node);
  if (known == nullptr || !can_be_disabled(known->type)) return noted(Status::invalid_value);
  known->is_enabled = is_enabled != 0;
  return Status::success;
}

OHM_EXPORTED Status cudaGraphNodeGetEnabled(ExecutableGraph* executable, const GraphNode* node,
                                            unsigned* is_enabled) {
  OHM_RUNTIME_CALL;
  const auto* const known = executable_node(executable, node);
  const bool is_right = known != nullptr && can_be_disabled(known->type) && is_enabled != nullptr;
  if (!is_right) return noted(Status::invalid_value);
  *is_enabled = known->is_enabled ? 1 : 0;
  return Status::success;
}

OHM_EXPORTED Status cudaGraphAddMemcpyNode(GraphNode** node, Graph* graph,
                                           GraphNode* const* dependencies, std::size_t count,
                                           const VolumeCopy* copied) {
  OHM_RUNTIME_CALL;
  if (copied == nullptr || !copied->is_whole()) return noted(Status::invalid_value);
  if (copied->kind < 0 || copied->kind > static_cast<int>(Direction::unified)) {
    return noted(Status::invalid_copy_direction);
  }
  return add({node, graph, dependencies, count}, NodeType::copy,
             [volume = *copied] { volume.copy(static_cast<Direction>(volume.kind)); });
}

OHM_EXPORTED Status cudaGraphAddMemcpyNode1D(GraphNode** node, Graph* graph,
                                             GraphNode* const* dependencies, std::size_t count,
                                             void* to, const void* from, std::size_t bytes,
                                             int kind) {
  OHM_RUNTIME_CALL;
  if (kind < 0 || kind > static_cast<int>(Direction::unified)) {
    return noted(Status::invalid_copy_direction);
  }
  if (to == nullptr || from == nullptr) return noted(Status::invalid_value);
  return add({node, graph, dependencies, count}, NodeType::copy,
             [=] { copy(to, from, bytes, static_cast<Direction>(kind)); });
}

OHM_EXPORTED Status cudaGraphAddMemsetNode(GraphNode** node, Graph* graph,
                                           GraphNode* const* dependencies, std::size_t count,
                                           const FillParameters* parameters) {
  OHM_RUNTIME_CALL;
  if (parameters == nullptr || !parameters->is_possible()) return noted(Status::invalid_value);
  return add({node, graph, dependencies, count}, NodeType::fill,
             [filled = *parameters] { filled.fill_all(); });
}

OHM_EXPORTED Status cudaGraphAddHostNode(GraphNode** node, Graph* graph,
                                         GraphNode* const* dependencies, std::size_t count,
                                         const HostParameters* parameters) {
  OHM_RUNTIME_CALL;
  if (parameters == nullptr || parameters->function == nullptr) {
    return noted(Status::invalid_value);
  }
  return add({node, graph, dependencies, count}, NodeType::host,
             [called = *parameters] { called.function(called.data); });
}

OHM_EXPORTED Status cudaGraphAddChildGraphNode(GraphNode** node, Graph* graph,
                                               GraphNode* const* dependencies, std::size_t count,
                                               Graph* child) {
  OHM_RUNTIME_CALL;
  if (!graphs().is_alive(child)) return noted(Status::invalid_value);
  return add({node, graph, dependencies, count}, NodeType::graph,
             [copied = ExecutableGraph(*child)] { copied.launch(); });
}

OHM_EXPORTED Status cudaGraphAddEventRecordNode(GraphNode** node, Graph* graph,
                                                GraphNode* const* dependencies, std::size_t count,
                                                Event* event) {
  OHM_RUNTIME_CALL;
  if (!events().is_alive(event)) return noted(Status::invalid_value);
  return add({node, graph, dependencies, count}, NodeType::event_record);
}

OHM_EXPORTED Status cudaGraphAddEventWaitNode(GraphNode** node, Graph* graph,
                                              GraphNode* const* dependencies, std::size_t count,
                                              Event* event) {
  OHM_RUNTIME_CALL;
  if (!events().is_alive(event)) return noted(Status::invalid_value);
  return add({node, graph, dependencies, count}, NodeType::event_wait);
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
  return add(made, NodeType::allocation);
}

/// Later nodes may have the memory.
OHM_EXPORTED Status cudaGraphAddMemFreeNode(GraphNode** node, Graph* graph,
                                            GraphNode* const* dependencies, std::size_t count,
                                            void* pointer) {
  OHM_RUNTIME_CALL;
  const NewNode made = {node, graph, dependencies, count};
  if (!made.is_right()) return noted(Status::invalid_value);
  const Status status = gpus().free(reinterpret_cast<DeviceAddress>(pointer));
  return status == Status::success ? add(made, NodeType::free) : noted(status);
}

OHM_EXPORTED Status cudaGraphAddDependencies(Graph* graph, GraphNode* const* from,
                                             GraphNode* const* to, const void* /*edges*/,
                                             std::size_t count) {
  OHM_RUNTIME_CALL;
  if (!graphs().is_alive(graph)) return noted(Status::invalid_value);
  for (std::size_t i = 0; i < count; ++i) {
    const bool are_here = graph_nodes().is_alive(from[i]) && graph_nodes().is_alive(to[i]) &&
                          from[i]->graph == graph && to[i]->graph == graph && from[i] != to[i];
    if (!are_here) return noted(Status::invalid_value);
    to[i]->dependencies.push_back(from[i]);
  }
  return Status::success;
}

OHM_EXPORTED Status cudaGraphDestroyNode(GraphNode* node) {
  OHM_RUNTIME_CALL;
  if (!graph_nodes().is_alive(node)) return noted(Status::invalid_value);
  node->graph->remove(node);
  return Status::success;
}

OHM_EXPORTED Status cudaGraphClone(Graph** clone, Graph* graph) {
  OHM_RUNTIME_CALL;
  if (clone == nullptr || !graphs().is_alive(graph)) return noted(Status::invalid_value);
  *clone = graphs().create();
  if (*clone == nullptr) return noted(Status::out_of_memory);
  std::map<const GraphNode*, GraphNode*> copies;
  for (const GraphNode* node : graph->nodes) {
    copies[node] = (*clone)->add(node->type, node->work);
    copies[node]->kernel = node->kernel;
  }
  for (const auto& [source, target] : graph->edges()) {
    copies.at(target)->dependencies.push_back(copies.at(source));
  }
  return Status::success;
}

OHM_EXPORTED Status cudaDeviceGraphMemTrim(int device) {
  OHM_RUNTIME_CALL;
  MemoryPool* const pool = gpus().graph_pool(device);
  return noted(pool == nullptr ? Status::invalid_device : gpus().trim_pool(pool, 0));
}

OHM_EXPORTED Status cudaDeviceGetGraphMemAttribute(int device, int attribute,
                                                   std::uint64_t* value) {
  OHM_RUNTIME_CALL;
  if (value == nullptr) return noted(Status::invalid_value);
  MemoryPool* const pool = gpus().graph_pool(device);
  if (pool == nullptr) return noted(Status::invalid_device);
  return noted(gpus().with_pool(pool, [&](const MemoryPool& one) {
    const std::array<std::size_t, 4> values = {one.used_bytes, one.used_high_bytes,
                                               one.reserved_bytes(), one.reserved_high_bytes};
    if (attribute < 0 || static_cast<std::size_t>(attribute) >= values.size()) {
      return Status::invalid_value;
    }
    *value = values.at(static_cast<std::size_t>(attribute));
    return Status::success;
  }));
}
