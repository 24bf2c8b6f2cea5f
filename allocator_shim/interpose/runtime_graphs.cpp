// CUDA's runtime: graphs, what is instantiated of them, and what they say about their nodes.
#include <algorithm>
#include <vector>

#include "allocator_shim/interpose/entry_call.h"
#include "allocator_shim/interpose/exported.h"
#include "allocator_shim/interpose/gpu_system.h"
#include "allocator_shim/interpose/graph_parameters.h"
#include "allocator_shim/interpose/objects.h"
#include "allocator_shim/interpose/status.h"
#include "allocator_shim/interpose/work_in_flight.h"

using namespace ohm::interpose;

namespace {

/// What of a list there is room for; the whole list is counted. nullptr: it is only counted.
template <typename Value>
void give(const std::vector<Value>& list, Value* places, std::size_t* count) {
  if (places != nullptr) std::copy_n(list.begin(), std::min(*count, list.size()), places);
  *count = list.size();
}

std::vector<GraphNode*> dependent_nodes(const GraphNode& node) {
  std::vector<GraphNode*> found;
  for (const auto& [from, to] : node.graph->edges()) {
    if (from == &node) found.push_back(to);
  }
  return found;
}

}  // namespace

OHM_EXPORTED Status cudaGraphCreate(Graph** graph, unsigned flags) {
  OHM_RUNTIME_CALL;
  if (graph == nullptr || flags != 0) return noted(Status::invalid_value);
  *graph = graphs().create();
  return *graph != nullptr ? Status::success : noted(Status::out_of_memory);
}

OHM_EXPORTED Status cudaGraphDestroy(Graph* graph) {
  OHM_RUNTIME_CALL;
  return graphs().destroy(graph) ? Status::success : noted(Status::invalid_value);
}

OHM_EXPORTED Status cudaGraphInstantiateWithFlags(ExecutableGraph** executable, Graph* graph,
                                                  unsigned long long /*flags*/) {
  OHM_RUNTIME_CALL;
  if (executable == nullptr || !graphs().is_alive(graph)) return noted(Status::invalid_value);
  *executable = executable_graphs().create(*graph);
  return *executable != nullptr ? Status::success : noted(Status::out_of_memory);
}

OHM_EXPORTED Status cudaGraphInstantiate(ExecutableGraph** executable, Graph* graph,
                                         unsigned long long flags) {
  OHM_RUNTIME_CALL;
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}

/// The parameters take where instantiation failed, and how.
OHM_EXPORTED Status cudaGraphInstantiateWithParams(ExecutableGraph** executable, Graph* graph,
                                                   void* /*parameters*/) {
  OHM_RUNTIME_CALL;
  return cudaGraphInstantiateWithFlags(executable, graph, 0);
}

OHM_EXPORTED Status cudaGraphExecDestroy(ExecutableGraph* executable) {
  OHM_RUNTIME_CALL;
  return executable_graphs().destroy(executable) ? Status::success : noted(Status::invalid_value);
}

OHM_EXPORTED Status cudaGraphUpload(ExecutableGraph* executable, Stream* stream) {
  OHM_RUNTIME_CALL;
  if (!executable_graphs().is_alive(executable)) return noted(Status::invalid_value);
  return is_stream(stream) ? Status::success : noted(Status::invalid_handle);
}

OHM_EXPORTED Status cudaGraphLaunch(ExecutableGraph* executable, Stream* stream) {
  OHM_RUNTIME_CALL;
  if (!executable_graphs().is_alive(executable)) return noted(Status::invalid_value);
  if (!is_stream(stream)) return noted(Status::invalid_handle);
  if (capture_of(stream) != nullptr) {
    capture_work(stream, NodeType::graph, [executable] {
      if (executable_graphs().is_alive(executable)) executable->launch();
    });
  } else {
    note_launched(stream);
    executable->launch();
  }
  return Status::success;
}

OHM_EXPORTED Status cudaGraphExecUpdate(ExecutableGraph* executable, Graph* graph,
                                        UpdateResult* result) {
  OHM_RUNTIME_CALL;
  const bool are_there = executable_graphs().is_alive(executable) && graphs().is_alive(graph);
  if (!are_there || result == nullptr) return noted(Status::invalid_value);
  const bool is_updated = executable->update(*graph);
  const auto kind = is_updated ? UpdateResult::Kind::success : UpdateResult::Kind::topology_changed;
  *result = {kind, nullptr, nullptr};
  return is_updated ? Status::success : noted(Status::update_failure);
}

OHM_EXPORTED Status cudaGraphGetNodes(Graph* graph, GraphNode** nodes, std::size_t* count) {
  OHM_RUNTIME_CALL;
  if (!graphs().is_alive(graph) || count == nullptr) return noted(Status::invalid_value);
  give(graph->nodes, nodes, count);
  return Status::success;
}

OHM_EXPORTED Status cudaGraphGetRootNodes(Graph* graph, GraphNode** nodes, std::size_t* count) {
  OHM_RUNTIME_CALL;
  if (!graphs().is_alive(graph) || count == nullptr) return noted(Status::invalid_value);
  std::vector<GraphNode*> roots;
  for (GraphNode* node : graph->nodes) {
    if (node->dependencies.empty()) roots.push_back(node);
  }
  give(roots, nodes, count);
  return Status::success;
}

OHM_EXPORTED Status cudaGraphGetEdges(Graph* graph, GraphNode** from, GraphNode** to,
                                      void* /*edges*/, std::size_t* count) {
  OHM_RUNTIME_CALL;
  if (!graphs().is_alive(graph) || count == nullptr) return noted(Status::invalid_value);
  std::vector<GraphNode*> sources;
  std::vector<GraphNode*> targets;
  for (const auto& [source, target] : graph->edges()) {
    sources.push_back(source);
    targets.push_back(target);
  }
  std::size_t places = *count;
  give(sources, from, &places);
  give(targets, to, count);
  return Status::success;
}

OHM_EXPORTED Status cudaGraphNodeGetType(const GraphNode* node, NodeType* type) {
  OHM_RUNTIME_CALL;
  if (!graph_nodes().is_alive(node) || type == nullptr) return noted(Status::invalid_value);
  *type = node->type;
  return Status::success;
}

OHM_VERSION(node_dependencies_12, cudaGraphNodeGetDependencies, "libcudart.so.12")
Status node_dependencies_12(const GraphNode* node, GraphNode** dependencies, std::size_t* count) {
  OHM_RUNTIME_CALL_OF("cudaGraphNodeGetDependencies");
  if (!graph_nodes().is_alive(node) || count == nullptr) return noted(Status::invalid_value);
  give(node->dependencies, dependencies, count);
  return Status::success;
}

OHM_DEFAULT_VERSION(node_dependencies_13, cudaGraphNodeGetDependencies, "libcudart.so.13")
Status node_dependencies_13(const GraphNode* node, GraphNode** dependencies, void* /*edges*/,
                            std::size_t* count) {
  return node_dependencies_12(node, dependencies, count);
}

OHM_EXPORTED Status cudaGraphNodeGetDependentNodes(const GraphNode* node, GraphNode** nodes,
                                                   void* /*edges*/, std::size_t* count) {
  OHM_RUNTIME_CALL;
  if (!graph_nodes().is_alive(node) || count == nullptr) return noted(Status::invalid_value);
  give(dependent_nodes(*node), nodes, count);
  return Status::success;
}
