// The end of the graph: adds the gradient of a leaf to its `.grad`.
#pragma once

#include "runtime/autograd/node.h"

namespace ohm {

/// Holds its leaf strongly: as long as a graph leads to a leaf, the leaf lives.
class AccumulateGrad final : public Node {
 public:
  explicit AccumulateGrad(const Tensor& leaf);

  /// The first gradient is taken over as it is when nobody else holds it and its layout is the
  /// leaf's; else it is copied. Later ones are added in place. Where the graph of the gradient is
  /// recorded nothing is taken over or written to.
  TensorList apply(TensorList& grads) override;

  const Tensor& leaf() const { return leaf_; }

 private:
  ~AccumulateGrad() override;

  Tensor leaf_;
};

}  // namespace ohm
