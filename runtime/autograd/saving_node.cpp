#include "runtime/autograd/saving_node.h"

#include <algorithm>
#include <utility>

namespace ohm {

SavingNode::~SavingNode() {
  while (!accumulators_.empty()) accumulators_.pop_back();
}

void SavingNode::set_saved(SavedList saved) {
  saved_ = std::move(saved);
  keeps_packed_ = std::any_of(saved_.begin(), saved_.end(),
                              [](const SavedTensor& tensor) { return tensor.is_packed(); });
}

// A packed leaf is released without its accumulator: that stays with the node.
void SavingNode::release_saved() {
  if (keeps_packed_) {
    for (const SavedTensor& saved : saved_) {
      IntrusivePtr<Node> accumulator = saved.accumulator();
      if (accumulator) accumulators_.push_back(std::move(accumulator));
    }
  }
  for (SavedTensor& saved : saved_) saved.release();
  Node::release_saved();
}

}  // namespace ohm
