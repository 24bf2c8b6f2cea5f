#include "runtime/autograd/saving_node.h"

#include <algorithm>
#include <utility>

#include "runtime/tensor/context.h"

namespace ohm {

SavingNode::~SavingNode() { drop_accumulators(); }

// The last one goes first.
void SavingNode::drop_accumulators() {
  while (!accumulators_.empty()) accumulators_.pop_back();
}

void SavingNode::set_saved(SavedList saved) {
  saved_ = std::move(saved);
  keeps_packed_ = std::any_of(saved_.begin(), saved_.end(),
                              [](const SavedTensor& tensor) { return tensor.is_packed(); });
}

// A packed leaf is released without its accumulator: that stays with the node.
void SavingNode::release_saved() {
  keep_packed_accumulators();
  for (SavedTensor& saved : saved_) saved.release();
  Node::release_saved();
}

void SavingNode::abandon_saved() {
  // What a function in Python saved is a list of its own.
  const bool is_list = saves_list_ || is_python();
  const bool is_reversed = Context::current().rules.graphs_drop_last_saved_first && !is_list;
  if (!is_reversed) return release_saved();
  drop_accumulators();  // its edges still hold them
  for (std::size_t i = saved_.size(); i > 0; --i) saved_[i - 1].release();
  Node::release_saved();
}

void SavingNode::keep_packed_accumulators() {
  if (keeps_packed_) {
    for (const SavedTensor& saved : saved_) {
      IntrusivePtr<Node> accumulator = saved.accumulator();
      if (accumulator) accumulators_.push_back(std::move(accumulator));
    }
  }
}

}  // namespace ohm
