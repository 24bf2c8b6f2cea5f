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

// Saved tensors go first: the edges still hold the nodes that made them, so dropping a saved tensor
// cannot start the deletion of a node inside the deletion of this one.
void Node::destroy(Node* node) {
  std::vector<IntrusivePtr<Node>> orphans;
  const auto unlink = [&orphans](Node& dying) {
    dying.release_saved();
    for (Edge& edge : dying.edges_) {
      if (edge.node && edge.node->use_count() == 1) {
        orphans.push_back(std::move(edge.node));
      } else {
        edge.node.reset();
      }
    }
  };
  unlink(*node);
  delete node;
  while (!orphans.empty()) {
    IntrusivePtr<Node> orphan = std::move(orphans.back());
    orphans.pop_back();
    unlink(*orphan);
  }
}

}  // namespace ohm
