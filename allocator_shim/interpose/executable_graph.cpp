// Graphs as they are launched: what is instantiated of one, and updated with another.
#include <algorithm>

#include "allocator_shim/interpose/graph_nodes.h"
#include "allocator_shim/interpose/graph_parameters.h"

namespace ohm::interpose {
namespace {

using NodeNumbers = std::map<const GraphNode*, std::size_t>;

NodeNumbers numbered(const std::vector<GraphNode*>& list) {
  NodeNumbers numbers;
  for (const GraphNode* node : list) numbers.emplace(node, numbers.size());
  return numbers;
}

std::vector<std::size_t> numbers_of(const std::vector<GraphNode*>& nodes, const NodeNumbers& all) {
  std::vector<std::size_t> numbers;
  for (const GraphNode* node : nodes) numbers.push_back(all.at(node));
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// The graph that is launched with a node; nullptr: none. A loop goes round once, since no kernel
/// ends it.
const Graph* launched_body(const GraphNode& node) {
  if (node.type != NodeType::condition) return node.bodies.empty() ? nullptr : node.bodies.front();
  const ConditionParameters& condition = node.given->condition;
  const unsigned value = conditions().is_alive(condition.handle) ? condition.handle->value : 0;
  std::size_t chosen = value;
  if (condition.type != ConditionParameters::Type::choice) chosen = value != 0 ? 0 : 1;
  return chosen < node.bodies.size() ? node.bodies[chosen] : nullptr;
}

}  // namespace

ExecutableGraph::ExecutableGraph(const Graph& graph, std::uint64_t instantiation_flags)
    : flags(instantiation_flags), references(graph.references) {
  const std::vector<GraphNode*> ordered = graph.in_order().value_or(graph.nodes);
  const NodeNumbers numbers = numbered(ordered);
  for (const GraphNode* node : ordered) {
    const Graph* const body = launched_body(*node);
    nodes.push_back({node, node->type, node->work, numbers_of(node->dependencies, numbers),
                     body != nullptr ? std::make_shared<ExecutableGraph>(*body) : nullptr});
  }
}

void ExecutableGraph::launch() const {
  for (const Node& node : nodes) {
    if (!node.is_enabled) continue;
    if (node.work) node.work();
    if (node.body != nullptr) node.body->launch();
  }
}

UpdateResult ExecutableGraph::update(const Graph& graph) {
  using Kind = UpdateResult::Kind;
  const auto ordered = graph.in_order();
  if (!ordered || ordered->size() != nodes.size())
    return {Kind::topology_changed, nullptr, nullptr};
  const NodeNumbers numbers = numbered(*ordered);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    GraphNode* const other = (*ordered)[i];
    if (numbers_of(other->dependencies, numbers) != nodes[i].dependencies) {
      return {Kind::topology_changed, other, nullptr};
    }
    if (other->type != nodes[i].type) return {Kind::node_type_changed, other, nullptr};
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    GraphNode* const other = (*ordered)[i];
    const Graph* const body = launched_body(*other);
    if ((body == nullptr) != (nodes[i].body == nullptr)) {
      return {Kind::topology_changed, other, nullptr};
    }
    if (body != nullptr) {
      const UpdateResult inner = nodes[i].body->update(*body);
      if (inner.kind != Kind::success) return inner;
    }
    nodes[i].work = other->work;
  }
  return {Kind::success, nullptr, nullptr};
}

ExecutableGraph::Node* ExecutableGraph::node_of(const GraphNode* source) {
  for (Node& node : nodes) {
    if (node.source == source) return &node;
    if (node.body == nullptr) continue;
    if (Node* const found = node.body->node_of(source)) return found;
  }
  return nullptr;
}

}  // namespace ohm::interpose
