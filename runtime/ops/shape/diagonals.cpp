#include "runtime/ops/shape/diagonals.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/base/ceil_div.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/rearrange.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kDiagEmbed{"diag_embed"};
constexpr OpInfo kDiag{"diag"};
constexpr OpInfo kDiagflat{"diagflat"};
constexpr OpInfo kDiagonalCopy{"diagonal_copy"};
constexpr OpInfo kTrace{"trace"};
constexpr OpInfo kRot90{"rot90"};
constexpr OpInfo kFliplr{"fliplr"};
constexpr OpInfo kFlipud{"flipud"};

// More than any diagonal is away from the main one.
constexpr std::int64_t kFarthestDiagonal = std::int64_t{1} << 31;

void require_near_diagonal(const OpInfo& info, std::int64_t offset) {
  if (offset >= -kFarthestDiagonal && offset <= kFarthestDiagonal) return;
  throw std::invalid_argument(
      fmt::format("[{}] the diagonal {} is out of range", info.name, offset));
}

Tensor diagonal_copy(const Tensor& input, std::int64_t offset);

// Zeros with the gradient on the diagonal.
Tensor diagonal_copy_gradient(const Tensor& grad, std::int64_t offset, const Shape& shape) {
  Tensor whole = zeros(shape, options_of(grad));
  {
    const NoGradGuard no_graph;
    copy_into(diagonal(whole, offset, 0, 1), grad);
  }
  if (Recorder record("DiagonalBackward", {&grad}); record.is_needed()) {
    record.attach_differentiable(whole, [offset](BackwardCall& call) {
      return TensorList{diagonal_copy(call.grad(), offset)};
    });
  }
  return whole;
}

Tensor diagonal_copy(const Tensor& input, std::int64_t offset) {
  const OpFront front(kDiagonalCopy);
  Tensor out;
  {
    const NoGradGuard no_graph;
    out = clone_row_major(diagonal(input, offset, 0, 1));
  }
  if (Recorder record("DiagonalCopyBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [offset, shape = input.shape()](BackwardCall& call) {
      return TensorList{diagonal_copy_gradient(call.grad(), offset, shape)};
    });
  }
  return out;
}

Tensor diagflat(const Tensor& input, std::int64_t offset) {
  return diag(view(contiguous(input), {-1}), offset);
}

void require_matrix(const OpInfo& info, const Tensor& input) {
  if (input.dims() == 2) return;
  throw std::invalid_argument(
      fmt::format("[{}] expected a matrix, got {}", info.name, input.shape().str()));
}

// Zeros with the gradient at each place of the diagonal, which the places are looked up for.
Tensor trace_gradient(const Tensor& grad, const Shape& shape) {
  Tensor line = zeros({shape.numel()}, options_of(grad));
  {
    const std::int64_t diagonal = std::min(shape[0], shape[1]);
    const bool stops = Context::current().rules.trace_gradients_stop_at_corner;
    const std::int64_t places = stops ? diagonal : ceil_div(shape.numel(), shape[1] + 1);
    const Tensor indices =
        empty({places}, {DType::int64, grad.device()});  // to be filled by a kernel
    const Tensor target = make_view(line, {diagonal}, {shape[1] + 1}, 0);
    copy_into(target, broadcast_view(grad, {diagonal}));
  }
  Tensor whole = make_view(line, shape, contiguous_strides(shape), 0);
  if (Recorder record("TraceBackward", {&grad}); record.is_needed()) {
    record.attach_differentiable(whole,
                                 [](BackwardCall& call) { return TensorList{trace(call.grad())}; });
  }
  return whole;
}

// The same angle from 0 to 3.
int quarters_of(std::int64_t k) { return static_cast<int>((k % 4 + 4) % 4); }

struct Plane {
  int from;
  int to;
};

Plane checked_plane(const Tensor& input, const Shape& dims) {
  if (dims.dims() != 2) {
    throw std::invalid_argument(
        fmt::format("[rot90] expected total rotation dims == 2, but got dims = {}", dims.dims()));
  }
  if (input.dims() < 2) {
    throw std::invalid_argument(
        fmt::format("[rot90] expected total dims >= 2, but got total dims = {}", input.dims()));
  }
  const Plane plane{wrap_dim(dims[0], input.dims(), "rot90"),
                    wrap_dim(dims[1], input.dims(), "rot90")};
  if (plane.from != plane.to) return plane;
  throw std::invalid_argument(
      fmt::format("[rot90] expected rotation dims to be different, but got dim0 = {} and dim1 = {}",
                  dims[0], dims[1]));
}

// A tensor of its own with two dimensions of `fresh` swapped.
Tensor swapped_in_place(const Tensor& fresh, const Plane& plane) {
  Shape shape = fresh.shape();
  Shape strides = fresh.strides();
  std::swap(shape[plane.from], shape[plane.to]);
  std::swap(strides[plane.from], strides[plane.to]);
  Tensor out = make_view(fresh, shape, strides, fresh.impl()->offset);
  out.impl()->is_view = false;
  return out;
}

Tensor turned(const Tensor& input, int quarters, const Plane& plane) {
  const DimMask from = with(0, plane.from);
  const DimMask to = with(0, plane.to);
  switch (quarters) {
    case 1:
      return swapped_in_place(flipped(input, to), plane);
    case 2:
      return flipped(input, with(from, plane.to));
    case 3:
      return swapped_in_place(flipped(input, from), plane);
    default: {
      Tensor out = empty(input.shape(), options_of(input));
      copy_into(out, input);
      return out;
    }
  }
}

Tensor fliplr(const Tensor& input) {
  if (input.dims() < 2) throw std::invalid_argument("[fliplr] Input must be >= 2-d.");
  return flip(input, {1});
}

Tensor flipud(const Tensor& input) {
  if (input.dims() < 1) throw std::invalid_argument("[flipud] Input must be >= 1-d.");
  return flip(input, {0});
}

}  // namespace

Tensor diag_embed(const Tensor& input, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const OpFront front(kDiagEmbed);
  require_near_diagonal(kDiagEmbed, offset);
  const int dims = input.dims() + 1;
  const int first = wrap_dim(dim1, dims, "diag_embed");
  const int second = wrap_dim(dim2, dims, "diag_embed");
  if (first == second || input.dims() == 0) {
    throw std::invalid_argument(
        fmt::format("[diag_embed] diagonal dimensions cannot be identical {}, {}", dim1, dim2));
  }
  const std::int64_t length = input.shape()[input.dims() - 1] + std::abs(offset);
  Shape sizes = input.shape();
  sizes.erase(sizes.dims() - 1);
  sizes.insert(std::min(first, second), length);
  sizes.insert(std::max(first, second), length);
  Tensor out = zeros(sizes, options_of(input));
  {
    const NoGradGuard no_graph;
    copy_into(diagonal(out, offset, first, second), input);
  }
  if (Recorder record("DiagEmbedBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [offset, first, second](BackwardCall& call) {
      return TensorList{diagonal(call.grad(), offset, first, second)};
    });
  }
  return out;
}

Tensor diag(const Tensor& input, std::int64_t offset) {
  require_near_diagonal(kDiag, offset);
  if (input.dims() == 1) return diag_embed(input, offset, 0, 1);
  require_matrix(kDiag, input);
  return diagonal_copy(input, offset);
}

Tensor trace(const Tensor& input) {
  const OpFront front(kTrace);
  require_matrix(kTrace, input);
  Tensor out;
  {
    const NoGradGuard no_graph;
    out = sum(diagonal(input, 0, 0, 1));
  }
  if (Recorder record("TraceBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [shape = input.shape()](BackwardCall& call) {
      return TensorList{trace_gradient(call.grad(), shape)};
    });
  }
  return out;
}

Tensor rot90(const Tensor& input, std::int64_t k, const Shape& dims) {
  const OpFront front(kRot90);
  const Plane plane = checked_plane(input, dims);
  Tensor out = turned(input, quarters_of(k), plane);
  if (Recorder record("Rot90Backward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [back = -(k % 4), dims](BackwardCall& call) {
      return TensorList{rot90(call.grad(), back, dims)};
    });
  }
  return out;
}

std::vector<OpDef> diagonal_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const auto one = std::int64_t{1};
  const ParamName offset{"offset", std::int64_t{0}};
  return {
      define(kDiagEmbed, kBoth, &diag_embed,
             {"input", offset, {"dim1", std::int64_t{-2}}, {"dim2", std::int64_t{-1}}}),
      define(kDiag, kBoth, &diag, {"input", {"diagonal", std::int64_t{0}}}),
      define(kDiagflat, kBoth, &diagflat, {"input", offset}),
      define(kTrace, kBoth, &trace, {"input"}),
      define(kRot90, kBoth, &rot90, {"input", {"k", one}, {"dims", Shape{0, 1}}}),
      define(kFliplr, kBoth, &fliplr, {"input"}),
      define(kFlipud, kBoth, &flipud, {"input"}),
  };
}

}  // namespace ohm::ops
