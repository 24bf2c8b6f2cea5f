// CUDA's runtime: graphs, what is instantiated of them, and what they say about their nodes.
#include <algorithm>
#include <fstream>
#include <map>
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

OHM_EXPORTED Status cudaGraphClone(Graph** clone, Graph* graph) {
  OHM_RUNTIME_CALL;
  if (clone == nullptr || !graphs().is_alive(graph)) return noted(Status::invalid_value);
  *clone = graph->clone();
  return *clone != nullptr ? Status::success : noted(Status::out_of_memory);
}

OHM_EXPORTED Status cudaGraphNodeFindInClone(GraphNode** found, const GraphNode* source,
                                             Graph* clone) {
  OHM_RUNTIME_CALL;
  if (found == nullptr || !graphs().is_alive(clone)) return noted(Status::invalid_value);
  const auto node = std::find_if(clone->nodes.begin(), clone->nodes.end(),
                                 [&](const GraphNode* one) { return one->source == source; });
  if (source == nullptr || node == clone->nodes.end()) return noted(Status::invalid_value);
  *found = *node;
  return Status::success;
}

OHM_EXPORTED Status cudaGraphInstantiateWithFlags(ExecutableGraph** executable, Graph* graph,
                                                  unsigned long long flags) {
  OHM_RUNTIME_CALL;
  constexpr unsigned long long kFlags = 15;
  const bool is_right = executable != nullptr && graphs().is_alive(graph) &&
                        (flags & ~kFlags) == 0 && graph->in_order().has_value();
  if (!is_right) return noted(Status::invalid_value);
  *executable = executable_graphs().create(*graph, flags);
  return *executable != nullptr ? Status::success : noted(Status::out_of_memory);
}

OHM_EXPORTED Status cudaGraphInstantiate(ExecutableGraph** executable, Graph* graph,
                                         unsigned long long flags) {
  OHM_RUNTIME_CALL;
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}

/// The parameters are told how it went.
OHM_EXPORTED Status cudaGraphInstantiateWithParams(ExecutableGraph** executable, Graph* graph,
                                                   InstantiationParameters* parameters) {
  OHM_RUNTIME_CALL;
  using Result = InstantiationParameters::Result;
  if (parameters == nullptr) return noted(Status::invalid_value);
  const Status status = cudaGraphInstantiateWithFlags(executable, graph, parameters->flags);
  const bool is_broken = graphs().is_alive(graph) && !graph->in_order();
  parameters->failed_node = nullptr;
  parameters->result = status == Status::success ? Result::success
                       : is_broken               ? Result::invalid_structure
                                                 : Result::error;
  return status;
}

OHM_EXPORTED Status cudaGraphExecGetFlags(ExecutableGraph* executable, unsigned long long* flags) {
  OHM_RUNTIME_CALL;
  const bool is_right = executable_graphs().is_alive(executable) && flags != nullptr;
  if (!is_right) return noted(Status::invalid_value);
  *flags = executable->flags;
  return Status::success;
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
  *result = executable->update(*graph);
  const bool is_updated = result->kind == UpdateResult::Kind::success;
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

namespace {

/// Pairs of nodes of a graph, from one that comes first to one that comes after it.
struct Edges {
  Graph* graph;
  GraphNode* const* from;
  GraphNode* const* to;
  std::size_t count;

  /// Whether each is there, or can be.
  bool are_right(bool are_there) const {
    if (!graphs().is_alive(graph)) return false;
    if (count > 0 && (from == nullptr || to == nullptr)) return false;
    for (std::size_t i = 0; i < count; ++i) {
      const bool are_here = graph_nodes().is_alive(from[i]) && graph_nodes().is_alive(to[i]) &&
                            from[i]->graph == graph && to[i]->graph == graph && from[i] != to[i];
      if (!are_here) return false;
      const auto& known = to[i]->dependencies;
      const bool is_there = std::find(known.begin(), known.end(), from[i]) != known.end();
      if (is_there != are_there) return false;
    }
    return true;
  }
};

}  // namespace

OHM_VERSION(add_dependencies_12, cudaGraphAddDependencies, "libcudart.so.12")
Status add_dependencies_12(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                           std::size_t count) {
  OHM_RUNTIME_CALL_OF("cudaGraphAddDependencies");
  if (!Edges{graph, from, to, count}.are_right(false)) return noted(Status::invalid_value);
  for (std::size_t i = 0; i < count; ++i) to[i]->dependencies.push_back(from[i]);
  return Status::success;
}

OHM_DEFAULT_VERSION(add_dependencies_13, cudaGraphAddDependencies, "libcudart.so.13")
Status add_dependencies_13(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                           const void* /*edges*/, std::size_t count) {
  return add_dependencies_12(graph, from, to, count);
}

OHM_VERSION(remove_dependencies_12, cudaGraphRemoveDependencies, "libcudart.so.12")
Status remove_dependencies_12(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                              std::size_t count) {
  OHM_RUNTIME_CALL_OF("cudaGraphRemoveDependencies");
  if (!Edges{graph, from, to, count}.are_right(true)) return noted(Status::invalid_value);
  for (std::size_t i = 0; i < count; ++i) std::erase(to[i]->dependencies, from[i]);
  return Status::success;
}

OHM_DEFAULT_VERSION(remove_dependencies_13, cudaGraphRemoveDependencies, "libcudart.so.13")
Status remove_dependencies_13(Graph* graph, GraphNode* const* from, GraphNode* const* to,
                              const void* /*edges*/, std::size_t count) {
  return remove_dependencies_12(graph, from, to, count);
}

namespace {

const char* word_of(NodeType type) {
  switch (type) {
    case NodeType::kernel:
      return "KERNEL";
    case NodeType::copy:
      return "MEMCPY";
    case NodeType::fill:
      return "MEMSET";
    case NodeType::host:
      return "HOST";
    case NodeType::graph:
      return "CHILD_GRAPH";
    case NodeType::empty:
      return "EMPTY";
    case NodeType::event_wait:
      return "EVENT_WAIT";
    case NodeType::event_record:
      return "EVENT_RECORD";
    case NodeType::allocation:
      return "MEM_ALLOC";
    case NodeType::free:
      return "MEM_FREE";
    case NodeType::condition:
      return "CONDITIONAL";
  }
  return "";
}

}  // namespace

/// Nodes with their types, and edges, in Graphviz's language.
OHM_EXPORTED Status cudaGraphDebugDotPrint(Graph* graph, const char* path, unsigned /*flags*/) {
  OHM_RUNTIME_CALL;
  if (!graphs().is_alive(graph) || path == nullptr) return noted(Status::invalid_value);
  std::ofstream file(path);
  std::map<const GraphNode*, std::size_t> numbers;
  file << "digraph dot {\nsubgraph cluster_1 {\nlabel=\"graph_1\"\n";
  for (const GraphNode* node : graph->nodes) {
    const std::size_t number = numbers.emplace(node, numbers.size()).first->second;
    file << "\"graph_1_node_" << number << "\"[label=\"" << number << "\\n"
         << word_of(node->type) << "\"]\n";
  }
  for (const auto& [from, to] : graph->edges()) {
    file << "\"graph_1_node_" << numbers.at(from) << "\" -> \"graph_1_node_" << numbers.at(to)
         << "\"\n";
  }
  file << "}\n}\n";
  return file ? Status::success : noted(Status::operating_system);
}
