#include "allocator_shim/interpose/graph_nodes.h"

#include <algorithm>

namespace ohm::interpose {
namespace {

HandlePool<Graph> all_graphs;
HandlePool<GraphNode> all_nodes;
HandlePool<ExecutableGraph> all_executable_graphs;

}  // namespace

HandlePool<Graph>& graphs() { return all_graphs; }
HandlePool<GraphNode>& graph_nodes() { return all_nodes; }
HandlePool<ExecutableGraph>& executable_graphs() { return all_executable_graphs; }

Graph::~Graph() {
  for (const GraphNode* node : nodes) graph_nodes().destroy(node);
}

GraphNode* Graph::add(NodeType type, NodeWork work, std::vector<GraphNode*> dependencies) {
  GraphNode* const made =
      graph_nodes().create(this, type, std::move(work), std::move(dependencies));
  if (made != nullptr) nodes.push_back(made);
  return made;
}

void Graph::remove(GraphNode* node) {
  std::erase(nodes, node);
  for (GraphNode* other : nodes) std::erase(other->dependencies, node);
  graph_nodes().destroy(node);
}

std::vector<std::pair<GraphNode*, GraphNode*>> Graph::edges() const {
  std::vector<std::pair<GraphNode*, GraphNode*>> found;
  for (GraphNode* node : nodes) {
    for (GraphNode* before : node->dependencies) found.emplace_back(before, node);
  }
  return found;
}

ExecutableGraph::ExecutableGraph(const Graph& graph) {
  for (const GraphNode* node : graph.nodes) {
    types.push_back(node->type);
    if (node->work) work.push_back(node->work);
  }
}

void ExecutableGraph::launch() const {
  for (const NodeWork& one : work) one();
}

bool ExecutableGraph::update(const Graph& graph) {
  ExecutableGraph other(graph);
  if (other.types != types) return false;
  work = std::move(other.work);
  return true;
}

}  // namespace ohm::interpose
