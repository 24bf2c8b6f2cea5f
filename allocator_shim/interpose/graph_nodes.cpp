#include "allocator_shim/interpose/graph_nodes.h"

#include <algorithm>
#include <set>

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

bool Graph::ends_with(const std::vector<GraphNode*>& last) const {
  std::set<const GraphNode*> reached;
  std::vector<const GraphNode*> left(last.begin(), last.end());
  while (!left.empty()) {
    const GraphNode* const node = left.back();
    left.pop_back();
    if (!reached.insert(node).second) continue;
    left.insert(left.end(), node->dependencies.begin(), node->dependencies.end());
  }
  return std::all_of(nodes.begin(), nodes.end(),
                     [&](const GraphNode* node) { return reached.contains(node); });
}

ExecutableGraph::ExecutableGraph(const Graph& graph) {
  for (const GraphNode* node : graph.nodes) nodes.push_back({node, node->type, node->work});
}

void ExecutableGraph::launch() const {
  for (const Node& node : nodes) {
    if (node.is_enabled && node.work) node.work();
  }
}

bool ExecutableGraph::update(const Graph& graph) {
  const auto is_alike = [](const Node& node, const GraphNode* other) {
    return node.type == other->type;
  };
  if (!std::equal(nodes.begin(), nodes.end(), graph.nodes.begin(), graph.nodes.end(), is_alike)) {
    return false;
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) nodes[i].work = graph.nodes[i]->work;
  return true;
}

ExecutableGraph::Node* ExecutableGraph::node_of(const GraphNode* source) {
  const auto found = std::find_if(nodes.begin(), nodes.end(),
                                  [source](const Node& node) { return node.source == source; });
  return found == nodes.end() ? nullptr : &*found;
}

}  // namespace ohm::interpose
