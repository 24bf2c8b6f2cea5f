#include "runtime/autograd/strided_piece.h"

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorded_arithmetic.h"
#include "runtime/autograd/recorder.h"
#include "runtime/autograd/variable.h"

namespace ohm {
namespace {

constexpr std::string_view kPieceNode = "AsStridedBackward";

// The elements of memory from the first of a tensor to its last.
std::int64_t span_of(const Geometry& geometry) {
  std::int64_t span = 1;
  for (int dim = 0; dim < geometry.sizes.dims(); ++dim) {
    if (geometry.sizes[dim] == 0) return 0;
    span += (geometry.sizes[dim] - 1) * geometry.strides[dim];
  }
  return span;
}

void require_places_of_their_own(const Geometry& geometry) {
  for (int dim = 0; dim < geometry.sizes.dims(); ++dim) {
    if (geometry.strides[dim] != 0 || geometry.sizes[dim] <= 1) continue;
    throw std::invalid_argument(
        "unsupported operation: more than one element of the written-to tensor refers to a single "
        "memory location. Please clone() the tensor before performing the operation.");
  }
}

// The gradient of a base from that of a piece of it: zeros, with the piece's gradient where it
// lies. What the piece repeats is summed up, a dimension after the other.
Tensor gradient_of_base(const Tensor& grad, const Geometry& base, const Geometry& piece) {
  Tensor summed = grad;
  Shape sizes = piece.sizes;
  for (int dim = sizes.dims() - 1; dim >= 0; --dim) {
    if (sizes[dim] == 0) return zeros(base.sizes, options_of(grad));
    if (sizes[dim] == 1 || piece.strides[dim] != 0) continue;
    sizes[dim] = 1;
    summed = recorded_sum_to(summed, sizes);
  }
  if (span_of(base) == 0) return zeros(base.sizes, options_of(grad));
  require_places_of_their_own(base);
  const Geometry distinct{sizes, piece.strides, piece.offset};
  const std::int64_t start = std::min(base.offset, piece.offset);
  const std::int64_t count = std::max(base.offset - start + span_of(base),  //
                                      piece.offset - start + span_of(distinct));
  const Tensor memory = zeros({count}, options_of(grad));
  copy_into(make_view(memory, sizes, piece.strides, piece.offset - start), summed);
  Tensor whole = make_view(memory, base.sizes, base.strides, base.offset - start);
  if (Recorder record(kPieceNode, {&summed}); record.is_needed()) {
    record.attach_differentiable(whole, [base, distinct](BackwardCall& call) {
      return TensorList{strided_piece(clone_laid_out_as(call.grad(), base), base, distinct)};
    });
  }
  return whole;
}

// The backward step of a piece.
auto piece_formula(const Geometry& base, const Geometry& piece) {
  return [base, piece](BackwardCall& call) {
    return TensorList{gradient_of_base(call.grad(), base, piece)};
  };
}

}  // namespace

Geometry geometry_of(const Tensor& tensor) {
  return {tensor.shape(), tensor.strides(), tensor.impl()->offset};
}

Tensor clone_laid_out_as(const Tensor& source, const Geometry& geometry) {
  require_places_of_their_own(geometry);
  Tensor clone = empty({span_of(geometry)}, options_of(source));
  clone = make_view(clone, geometry.sizes, geometry.strides, 0);
  clone.impl()->is_view = false;
  copy_into(clone, source);
  if (Recorder record("CloneBackward", {&source}); record.is_needed()) {
    record.attach_differentiable(clone, [](BackwardCall& call) { return TensorList{call.grad()}; });
  }
  return clone;
}

Tensor strided_piece(const Tensor& whole, const Geometry& base, const Geometry& piece) {
  Tensor view = make_view(whole, piece.sizes, piece.strides,
                          whole.impl()->offset + piece.offset - base.offset);
  if (Recorder record(kPieceNode, {&whole}); record.is_needed()) {
    record.attach_differentiable(view, piece_formula(base, piece));
  }
  return view;
}

IntrusivePtr<Node> make_piece_node(const Tensor& base, const Tensor& view) {
  const auto formula = piece_formula(geometry_of(base), geometry_of(view));
  IntrusivePtr<Node> node(new ClosureNode(kPieceNode, Node::next_sequence_number(), formula));
  EdgeList edges;
  edges.push_back(gradient_edge(base));
  node->set_edges(std::move(edges));
  node->set_differentiable();
  node->add_input(view);
  return node;
}

}  // namespace ohm
