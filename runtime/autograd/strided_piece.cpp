#include "runtime/autograd/strided_piece.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorded_arithmetic.h"
#include "runtime/autograd/recorder.h"
#include "runtime/autograd/variable.h"
#include "runtime/base/strided.h"

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

[[noreturn]] void refuse_shared_places() {
  throw std::invalid_argument(
      "unsupported operation: more than one element of the written-to tensor refers to a single "
      "memory location. Please clone() the tensor before performing the operation.");
}

void require_places_of_their_own(const Geometry& geometry) {
  for (int dim = 0; dim < geometry.sizes.dims(); ++dim) {
    if (geometry.strides[dim] == 0 && geometry.sizes[dim] > 1) refuse_shared_places();
  }
}

// A piece that reaches beyond the base has no place in what is laid out as the base alone.
void require_inside(const Tensor& whole, const Geometry& piece) {
  const auto there = static_cast<std::int64_t>(whole.storage().bytes() / item_bytes(whole.dtype()));
  const std::int64_t span = span_of(piece);
  if (span == 0 || (piece.offset >= 0 && piece.offset + span <= there)) return;
  throw std::invalid_argument(
      "a view that reaches beyond the tensor that it was made of has no such gradient");
}

// PyTorch's test: whether dimensions, but for those that repeat the whole, run into each other.
bool may_overlap(const Geometry& geometry) {
  std::vector<int> dims;
  for (int dim = 0; dim < geometry.sizes.dims(); ++dim) {
    if (geometry.sizes[dim] == 0) return false;
    if (geometry.sizes[dim] != 1 && geometry.strides[dim] != 0) dims.push_back(dim);
  }
  std::stable_sort(dims.begin(), dims.end(),
                   [&](int a, int b) { return geometry.strides[a] < geometry.strides[b]; });
  std::int64_t reach = 0;
  for (const int dim : dims) {
    if (geometry.strides[dim] <= reach) return true;
    reach += geometry.strides[dim] * (geometry.sizes[dim] - 1);
  }
  return false;
}

// Whether it can be seen as one line, as an expanded number can.
bool is_one_line(const Tensor& tensor) {
  std::int64_t next = -1;
  for (int dim = tensor.dims() - 1; dim >= 0; --dim) {
    if (tensor.shape()[dim] == 1) continue;
    if (next >= 0 && tensor.strides()[dim] != next) return false;
    next = tensor.strides()[dim] * tensor.shape()[dim];
  }
  return true;
}

// A kernel is given the number of each place, and adds one value after the other.
void add_at_places(const Tensor& memory, const Geometry& piece, const Tensor& grad) {
  const Tensor numbers = arange(0, 1, memory.numel(), {DType::int64, memory.device()});
  const Tensor values = is_one_line(grad) ? grad : row_major(grad);
  const Tensor places = row_major(make_view(numbers, piece.sizes, piece.strides, piece.offset));
  if (!memory.has_values()) return;
  visit_dtype(memory.dtype(), [&]<class T>(TypeTag<T>) {
    T* const sums = memory.data<T>() + piece.offset;
    const T* const added = values.data<const T>();
    for_each_offsets(piece.sizes, std::array{piece.strides, values.strides()},
                     [&](const Offsets<2>& at) {
                       sums[at[0]] = convert_element<T>(convert_element<double>(sums[at[0]]) +
                                                        convert_element<double>(added[at[1]]));
                     });
  });
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
  if (may_overlap(base)) refuse_shared_places();
  const Geometry distinct{sizes, piece.strides, piece.offset};
  const std::int64_t start = std::min(base.offset, piece.offset);
  const std::int64_t count = std::max(base.offset - start + span_of(base),  //
                                      piece.offset - start + span_of(distinct));
  const Tensor memory = zeros({count}, options_of(grad));
  if (may_overlap(distinct)) {
    add_at_places(memory, {sizes, piece.strides, piece.offset - start}, summed);
  } else {
    copy_into(make_view(memory, sizes, piece.strides, piece.offset - start), summed);
  }
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
  const Geometry there{piece.sizes, piece.strides,
                       whole.impl()->offset + piece.offset - base.offset};
  require_inside(whole, there);
  Tensor view = make_view(whole, there.sizes, there.strides, there.offset);
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
