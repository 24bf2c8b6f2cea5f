// CUDA's runtime: nodes of any kind, which one call adds to graphs.
#include <cstddef>
#include <cstdint>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/graph_parameters.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/stub.h"
#include "allocator_shim/interpose/volume_copy.h"

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
}

namespace {

/// cudaMemcpyNodeParams.
struct VolumeCopyParameters {
  std::uint64_t flags;
  void* context;
  VolumeCopy copied;
};

/// cudaGraphNodeParams.
struct NodeParameters {
  NodeType type;
  std::int32_t reserved[3];
  union {
    KernelParameters kernel;
    VolumeCopyParameters copy;
    FillParameters fill;
    HostParameters host;
    Graph* graph;
    Event* event;
    AllocationParameters allocation;
    void* freed;
  };
};

}  // namespace

OHM_EXPORTED Status cudaGraphAddNode(GraphNode** node, Graph* graph, GraphNode* const* dependencies,
                                     const void* /*edges*/, std::size_t count,
                                     NodeParameters* parameters) {
  OHM_RUNTIME_CALL;
  if (parameters == nullptr) return noted(Status::invalid_value);
  switch (parameters->type) {
    case NodeType::kernel:
      return cudaGraphAddKernelNode(node, graph, dependencies, count, &parameters->kernel);
    case NodeType::copy:
      return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &parameters->copy.copied);
    case NodeType::fill:
      return cudaGraphAddMemsetNode(node, graph, dependencies, count, &parameters->fill);
    case NodeType::host:
      return cudaGraphAddHostNode(node, graph, dependencies, count, &parameters->host);
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
  }
  report_unsupported("cudaGraphAddNode");
  return noted(Status::not_supported);
}
