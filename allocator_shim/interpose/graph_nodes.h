// Nodes of CUDA's graphs: what a capture or a program puts there. Kernels compute nothing, and what
// captured copies do is not known; host functions, and the copies and fills that a program adds
// itself, are done at each launch.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "allocator_shim/interpose/handle_pool.h"

namespace ohm::interpose {

/// As cudaGraphNodeType numbers them.
enum class NodeType : int {
  kernel = 0,
  copy = 1,
  fill = 2,
  host = 3,
  graph = 4,
  empty = 5,
  event_wait = 6,
  event_record = 7,
  allocation = 10,
  free = 11,
};

/// What a node does when its graph is launched; empty: nothing.
using NodeWork = std::function<void()>;

struct Graph;
struct KernelParameters;

struct GraphNode {
  Graph* graph = nullptr;
  NodeType type = NodeType::kernel;
  NodeWork work;
  std::vector<GraphNode*> dependencies = {};
  std::shared_ptr<const KernelParameters> kernel = nullptr;  ///< that a program gave it
};

/// One thread at a time, as in CUDA.
struct Graph {
  std::vector<GraphNode*> nodes;  ///< each after those that it depends on, unless some were added

  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// nullptr: there is no room for another one.
  GraphNode* add(NodeType type, NodeWork work = {}, std::vector<GraphNode*> dependencies = {});
  void remove(GraphNode* node);
  /// From a node to one that depends on it.
  std::vector<std::pair<GraphNode*, GraphNode*>> edges() const;
  /// Whether each node comes before one of these, or is one.
  bool ends_with(const std::vector<GraphNode*>& last) const;
};

/// What was instantiated of a graph.
struct ExecutableGraph {
  struct Node {
    const GraphNode* source;  ///< as programs name it
    NodeType type;
    NodeWork work;
    bool is_enabled = true;
  };
  std::vector<Node> nodes;

  explicit ExecutableGraph(const Graph& graph);
  void launch() const;
  /// As cudaGraphExecUpdate. False: the graph has other nodes.
  bool update(const Graph& graph);
  /// nullptr: it was not instantiated of this node.
  Node* node_of(const GraphNode* source);
};

HandlePool<Graph>& graphs();
HandlePool<GraphNode>& graph_nodes();
HandlePool<ExecutableGraph>& executable_graphs();

}  // namespace ohm::interpose
