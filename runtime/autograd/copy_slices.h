// The node of a tensor that was written to through a view of it; see Note [Writing over views].
#pragma once

#include "runtime/autograd/node.h"
#include "runtime/autograd/strided_piece.h"
#include "runtime/autograd/view_of.h"

namespace ohm {

/// Has the edges of the op's own node, but for the first: that leads to what the base was before,
/// not to the view.
class CopySlices final : public Node {
 public:
  /// `function` is the node of the op that wrote over `view`, which it has as its input 0.
  CopySlices(const Tensor& base, const Tensor& view, IntrusivePtr<Node> function);

  /// Allocates the base's gradient in the base's layout, and a row-major copy of the view's part.
  TensorList apply(TensorList& grads) override;
  void release_saved() override;
  const Node* function() const override { return function_.get(); }

 private:
  ~CopySlices() override = default;

  bool gives(std::size_t edge) const;
  void select_view() const;

  Geometry base_;
  Geometry view_;
  const ViewNodes& nodes_;
  IntrusivePtr<Node> function_;  ///< null when it was released
};

/// As ViewNodes::slices.
IntrusivePtr<Node> make_copy_slices(const Tensor& base, const Tensor& view,
                                    const IntrusivePtr<Node>& function);

}  // namespace ohm
