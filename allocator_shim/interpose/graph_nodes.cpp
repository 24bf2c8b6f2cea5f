#include "allocator_shim/interpose/graph_nodes.h"

#include <algorithm>
#include <set>

namespace ohm::interpose {
namespace {

HandlePool<Graph> all_graphs;
HandlePool<GraphNode> all_nodes;
HandlePool<ExecutableGraph> all_executable_graphs;
HandlePool<Condition> all_conditions;

}  // namespace

HandlePool<Graph>& graphs() { return all_graphs; }
HandlePool<GraphNode>& graph_nodes() { return all_nodes; }
HandlePool<ExecutableGraph>& executable_graphs() { return all_executable_graphs; }
HandlePool<Condition>& conditions() { return all_conditions; }

GraphNode::~GraphNode() {
  for (const Graph* body : bodies) graphs().destroy(body);
}

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

Graph* Graph::clone() const {
  Graph* const made = graphs().create(references);
  if (made == nullptr) return nullptr;
  std::map<const GraphNode*, GraphNode*> copies;
  for (const GraphNode* node : nodes) {
    GraphNode* const copied = made->add(node->type, node->work);
    copied->given = node->given;
    copied->source = node;
    copied->attributes = node->attributes;
    for (const Graph* body : node->bodies) copied->bodies.push_back(body->clone());
    copies[node] = copied;
  }
  for (const auto& [from, to] : edges()) copies.at(to)->dependencies.push_back(copies.at(from));
  return made;
}

std::vector<std::pair<GraphNode*, GraphNode*>> Graph::edges() const {
  std::vector<std::pair<GraphNode*, GraphNode*>> found;
  for (GraphNode* node : nodes) {
    for (GraphNode* before : node->dependencies) found.emplace_back(before, node);
  }
  return found;
}

std::optional<std::vector<GraphNode*>> Graph::in_order() const {
  std::vector<GraphNode*> ordered;
  std::set<const GraphNode*> placed;
  std::vector<GraphNode*> left = nodes;
  while (!left.empty()) {
    std::vector<GraphNode*> later;
    for (GraphNode* node : left) {
      const bool is_next = std::all_of(node->dependencies.begin(), node->dependencies.end(),
                                       [&](const GraphNode* one) { return placed.contains(one); });
      if (!is_next) {
        later.push_back(node);
        continue;
      }
      ordered.push_back(node);
      placed.insert(node);
    }
    if (later.size() == left.size()) return std::nullopt;
    left = std::move(later);
  }
  return ordered;
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

}  // namespace ohm::interpose
