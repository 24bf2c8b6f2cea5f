// Graphs of work, their nodes, and what is instantiated of them: what is behind cudaGraph_t,
// cudaGraphNode_t and cudaGraphExec_t.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "allocator_shim/interpose/handle_pool.h"
#include "allocator_shim/interpose/user_objects.h"

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
  condition = 13,
};

/// What a node does when its graph is launched; empty: nothing.
using NodeWork = std::function<void()>;

struct Graph;
struct NodeParameters;
struct UpdateResult;

/// cudaLaunchAttributeValue.
using LaunchAttributeValue = std::array<std::byte, 64>;

struct GraphNode {
  Graph* graph = nullptr;
  NodeType type = NodeType::kernel;
  NodeWork work;
  std::vector<GraphNode*> dependencies = {};
  /// What a program gave it; nullptr: it was captured.
  std::shared_ptr<const NodeParameters> given = nullptr;
  const GraphNode* source = nullptr;  ///< that it was cloned from
  std::vector<Graph*> bodies = {};    ///< graphs of its own: of a child, or of a condition
  std::map<int, LaunchAttributeValue> attributes = {};

  ~GraphNode();
};

/// One thread at a time, as in CUDA.
struct Graph {
  std::vector<GraphNode*> nodes;
  UserReferences references;

  Graph() = default;
  explicit Graph(const UserReferences& held) : references(held) {}
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// nullptr: there is no room for another one.
  GraphNode* add(NodeType type, NodeWork work = {}, std::vector<GraphNode*> dependencies = {});
  void remove(GraphNode* node);
  /// nullptr: there is no room for it.
  Graph* clone() const;
  /// From a node to one that depends on it.
  std::vector<std::pair<GraphNode*, GraphNode*>> edges() const;
  /// Each after those that it depends on, otherwise as they were added. nullopt: there is a cycle.
  std::optional<std::vector<GraphNode*>> in_order() const;
  /// Whether each node comes before one of these, or is one.
  bool ends_with(const std::vector<GraphNode*>& last) const;
};

/// What was instantiated of a graph without cycles.
struct ExecutableGraph {
  struct Node {
    const GraphNode* source;  ///< as programs name it
    NodeType type;
    NodeWork work;
    std::vector<std::size_t> dependencies;
    std::shared_ptr<ExecutableGraph> body;  ///< that is launched with it; nullptr: none
    bool is_enabled = true;
  };
  std::vector<Node> nodes;
  std::uint64_t flags = 0;
  UserReferences references;

  explicit ExecutableGraph(const Graph& graph, std::uint64_t instantiation_flags = 0);
  void launch() const;
  /// As cudaGraphExecUpdate: the graph may differ in parameters alone.
  UpdateResult update(const Graph& graph);
  /// nullptr: it was not instantiated of this node.
  Node* node_of(const GraphNode* source);
};

/// The value of a condition when its graph is launched, which no kernel changes.
struct Condition {
  unsigned value = 0;
};

HandlePool<Graph>& graphs();
HandlePool<GraphNode>& graph_nodes();
HandlePool<ExecutableGraph>& executable_graphs();
HandlePool<Condition>& conditions();

}  // namespace ohm::interpose
