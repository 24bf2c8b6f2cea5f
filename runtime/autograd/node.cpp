#include "runtime/autograd/node.h"

#include "runtime/tensor/context.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ohm {

Node::Node(std::string_view name, std::uint64_t sequence_number)
    : name_(name), sequence_number_(sequence_number), site_(Context::current().site()) {}

std::uint64_t Node::next_sequence_number() {
  ExecutionState& state = Context::current().state;
  const std::size_t last = state.next_sequence_numbers.size() - 1;
  return state.next_sequence_numbers[std::min(static_cast<std::size_t>(state.thread), last)]++;
}

std::uint32_t Node::add_input(const Tensor& output) {
  const Device device = output.device();
  inputs_.emplace_back(TensorMeta{output.shape(), output.dtype(), device,
                                  Context::current().state.streams.of(device)});
  return static_cast<std::uint32_t>(inputs_.size() - 1);
}

namespace {

/// A node that goes, from one of its edges on.
struct DyingNode {
  Node* node = nullptr;
  IntrusivePtr<Node> owner;  ///< none: the one that the rest hangs on
  std::size_t next_edge = 0;
  bool goes_edge_by_edge = false;
};

DyingNode dying_node(IntrusivePtr<Node> owner, bool goes_edge_by_edge) {
  Node* const node = owner.get();
  return {node, std::move(owner), 0, goes_edge_by_edge};
}

}  // namespace

// Saved tensors go first: the edges still hold the nodes that made them, so dropping a saved tensor
// cannot start the deletion of a node inside the deletion of this one. What only a node kept goes
// after it, the last edge first. Where PyTorch has a node in Python, it may go before the edges
// that come after it are looked at, with all that it kept. So does what an edge of a node leads to
// that goes edge by edge, where nothing else holds that: in the list of another node it is one of
// many.
void Node::destroy(Node* node) {
  const bool python_goes_at_once = Context::current().rules.python_owns_its_nodes;
  const bool goes_edge_by_edge =
      node->goes_edge_by_edge() && Context::current().rules.written_graphs_go_edge_by_edge;
  DyingNode next{node, {}, 0, goes_edge_by_edge};
  std::vector<DyingNode> dying;  // besides this one: most nodes go alone, and need no memory for it
  for (;;) {
    Node& current = *next.node;
    if (next.next_edge == 0) {
      next.owner ? current.release_saved() : current.abandon_saved();
    }
    IntrusivePtr<Node> goes_first;
    while (!goes_first && next.next_edge < current.edges_.size()) {
      IntrusivePtr<Node> target = std::move(current.edges_[next.next_edge++].node);
      if (!target || target->use_count() > 1) continue;
      const bool is_pythons = target->is_python() && !current.is_python();
      if (next.goes_edge_by_edge || (python_goes_at_once && is_pythons)) {
        goes_first = std::move(target);
      } else {
        dying.push_back(dying_node(std::move(target), false));
      }
    }
    if (goes_first) {
      const bool goes_alike = next.goes_edge_by_edge && goes_first->goes_edge_by_edge();
      dying.push_back(std::move(next));
      next = dying_node(std::move(goes_first), goes_alike);
      continue;
    }
    if (!next.owner) delete node;
    if (dying.empty()) return;
    next = std::move(dying.back());
    dying.pop_back();
  }
}

}  // namespace ohm
