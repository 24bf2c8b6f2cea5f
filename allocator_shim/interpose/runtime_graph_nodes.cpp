// CUDA's runtime: nodes that programs add to graphs themselves.
#include <array>
#include <cstdint>
#include <map>
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

using namespace ohm::interpose;
using ohm::DeviceAddress;

namespace {

/// cudaMemsetParams.
struct FillParameters {
  std::byte* to;
  std::size_t pitch;
  unsigned value, element_bytes;
  std::size_t width, height;

  bool is_possible() const {
    const bool is_element = element_bytes == 1 || element_bytes == 2 || element_bytes == 4;
    return to != nullptr && is_element && width > 0;
  }
  void fill_all() const {
    for (std::size_t row = 0; row < height; ++row) {
      std::byte* const first = to + row * pitch;
      if (element_bytes == 1) fill(first, static_cast<int>(value), width);
      if (element_bytes == 2) {
        fill_words(reinterpret_cast<std::uint16_t*>(first), static_cast<std::uint16_t>(value),
                   width);
      }
      if (element_bytes == 4) fill_words(reinterpret_cast<std::uint32_t*>(first), value, width);
    }
  }
};

/// cudaMemAllocNodeParams.
struct AllocationParameters {
  int allocation_type, handle_types, location_type, device;
  std::array<std::uint64_t, 9> properties;
  const void* access;
  std::size_t access_count, bytes;
  void* pointer;
};
static_assert(sizeof(AllocationParameters) == 120);

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
  if (parameters == nullptr) return noted(Status::invalid_value);
  if (!is_launchable(*parameters)) return noted(Status::invalid_device_function);
  const Status status = check_launch(LaunchApi::runtime, parameters->grid, parameters->block,
                                     parameters->shared_bytes);
  if (status != Status::success) return noted(status);
  return add({node, graph, dependencies, count}, NodeType::kernel);
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
