#include "runtime/autograd/gradient_selection.h"

#include <algorithm>

namespace ohm {

// Depth first, without recursion: a node is decided when all that it leads to is.
GradientSelection::GradientSelection(const std::vector<Edge>& roots,
                                     const std::vector<Edge>& wanted) {
  for (const Edge& edge : wanted) wanted_.insert(edge.node.get());
  struct Visit {
    const Node* node;
    std::size_t next_edge;
  };
  std::unordered_set<const Node*> seen;
  std::vector<Visit> path;
  const auto enter = [&](const Node* node) {
    if (node != nullptr && seen.insert(node).second) path.push_back({node, 0});
  };
  for (const Edge& root : roots) {
    enter(root.node.get());
    while (!path.empty()) {
      Visit& visit = path.back();
      const EdgeList& edges = visit.node->edges();
      if (visit.next_edge < edges.size()) {
        enter(edges[visit.next_edge++].node.get());
        continue;
      }
      if (std::any_of(edges.begin(), edges.end(),
                      [this](const Edge& edge) { return edge.node && includes(*edge.node); })) {
        leading_.insert(visit.node);
      }
      path.pop_back();
    }
  }
}

}  // namespace ohm
