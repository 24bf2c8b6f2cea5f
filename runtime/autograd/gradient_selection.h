// The part of a graph that a backward pass has to run when only some gradients are asked for.
#pragma once

#include <unordered_set>
#include <vector>

#include "runtime/autograd/node.h"

namespace ohm {

class GradientSelection {
 public:
  /// Of the graph below `roots`, the nodes that lead to one of `wanted`.
  GradientSelection(const std::vector<Edge>& roots, const std::vector<Edge>& wanted);

  /// Whether a gradient that goes to this node is of use.
  bool includes(const Node& node) const { return runs(node) || wanted_.contains(&node); }
  /// Whether the node itself has to run.
  bool runs(const Node& node) const { return leading_.contains(&node); }
  /// A gradient that goes to this node, which the pass does not know, is of use.
  void include(const Node& node) { wanted_.insert(&node); }

 private:
  std::unordered_set<const Node*> wanted_;
  std::unordered_set<const Node*> leading_;
};

}  // namespace ohm
