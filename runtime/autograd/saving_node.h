// A node of the backward graph that keeps tensors of the forward pass.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/autograd/node.h"
#include "runtime/autograd/saved_tensor.h"

namespace ohm {

using SavedList = InlineVector<SavedTensor, 3>;

class SavingNode : public Node {
 public:
  using Node::Node;

  void release_saved() override;
  void abandon_saved() override;

  const SavedList& saved() const { return saved_; }
  void set_saved(SavedList saved);
  /// What is saved is one list, which goes from its first tensor on.
  void set_saves_list() { saves_list_ = true; }
  /// Whether anything was saved while a hook was installed.
  bool keeps_packed() const { return keeps_packed_; }

 protected:
  ~SavingNode() override;

 private:
  void keep_packed_accumulators();
  void drop_accumulators();

  SavedList saved_;
  std::vector<IntrusivePtr<Node>> accumulators_;  ///< of packed leaves that were released
  bool keeps_packed_ = false;
  bool saves_list_ = false;
};

}  // namespace ohm
