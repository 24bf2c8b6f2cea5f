#include "runtime/autograd/view_history.h"

#include "runtime/autograd/copy_slices.h"
#include "runtime/autograd/strided_piece.h"

namespace ohm {
namespace {

constexpr ViewNodes kNodes{&make_piece_node, &make_copy_slices};

}  // namespace

void track_view(const Tensor& view, const Tensor& input, ViewOrigin origin) {
  mark_view(view, input, origin, kNodes);
}

}  // namespace ohm
