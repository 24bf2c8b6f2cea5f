#include "runtime/ops/shape/slice.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/autograd/recorder.h"
#include "runtime/autograd/view_history.h"
#include "runtime/ops/op_front.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kSelect{"select"};
constexpr OpInfo kNarrow{"narrow"};
constexpr OpInfo kSlice{"slice"};
constexpr OpInfo kSplit{"split"};
constexpr OpInfo kChunk{"chunk"};
constexpr OpInfo kUnbind{"unbind"};
constexpr OpInfo kDiagonal{"diagonal"};

// A tensor can be larger than any list of its pieces.
constexpr std::int64_t kMostPieces = std::int64_t{1} << 20;

void require_countable(std::int64_t pieces, const OpInfo& info) {
  if (pieces <= kMostPieces) return;
  throw std::invalid_argument(fmt::format("[{}] {} pieces are too many: at most {} can be made",
                                          info.name, pieces, kMostPieces));
}

// The gradient of a piece: zeros of the whole input with the piece's gradient written in.
template <class Piece>
Tensor filled_gradient(const Tensor& grad, const Shape& shape, Piece piece) {
  Tensor whole = empty(shape, options_of(grad));
  fill_values(whole, 0.0);
  copy_into(piece(whole), grad);
  return whole;
}

Tensor raw_narrow(const Tensor& tensor, int dim, std::int64_t start, std::int64_t length) {
  Shape sizes = tensor.shape();
  sizes[dim] = length;
  return make_view(tensor, sizes, tensor.strides(),
                   tensor.impl()->offset + start * tensor.strides()[dim]);
}

Tensor raw_select(const Tensor& tensor, int dim, std::int64_t index) {
  Shape sizes = tensor.shape();
  Shape strides = tensor.strides();
  sizes.erase(dim);
  strides.erase(dim);
  return make_view(tensor, sizes, strides, tensor.impl()->offset + index * tensor.strides()[dim]);
}

// The elements of a diagonal of two dimensions, as a last one. `offset` is at most as far from the
// main one as those dimensions are long.
Tensor raw_diagonal(const Tensor& tensor, std::int64_t offset, int dim1, int dim2) {
  const std::int64_t below = std::max<std::int64_t>(-offset, 0);
  const std::int64_t right = std::max<std::int64_t>(offset, 0);
  const std::int64_t length = std::min(tensor.shape()[dim1] - below, tensor.shape()[dim2] - right);
  const std::int64_t start = below * tensor.strides()[dim1] + right * tensor.strides()[dim2];
  Shape sizes;
  Shape strides;
  for (int dim = 0; dim < tensor.dims(); ++dim) {
    if (dim == dim1 || dim == dim2) continue;
    sizes.push_back(tensor.shape()[dim]);
    strides.push_back(tensor.strides()[dim]);
  }
  sizes.push_back(std::max<std::int64_t>(length, 0));
  strides.push_back(tensor.strides()[dim1] + tensor.strides()[dim2]);
  return make_view(tensor, sizes, strides, tensor.impl()->offset + (length > 0 ? start : 0));
}

int checked_dim(const Tensor& input, std::int64_t dim, const OpInfo& info) {
  if (input.dims() == 0) {
    throw std::invalid_argument(fmt::format("[{}] cannot be applied to a 0-dim tensor", info.name));
  }
  return wrap_dim(dim, input.dims(), info.name.data());
}

// A piece of `input`, whose gradient is written into zeros of the input's shape; the gradient of
// that is the same piece again.
template <class Piece>
Tensor record_piece(std::string_view node, const Tensor& input, Piece piece) {
  Tensor out = piece(input);
  if (Recorder record(node, {&input}); record.is_needed()) {
    record.attach_differentiable(out, [node, shape = input.shape(), piece](BackwardCall& call) {
      Tensor whole = filled_gradient(call.grad(), shape, piece);
      if (Recorder again(node, {&call.grad()}); again.is_needed()) {
        again.attach_differentiable(whole, [node, piece](BackwardCall& second) {
          return TensorList{record_piece(node, second.grad(), piece)};
        });
      }
      return TensorList{whole};
    });
  }
  track_view(out, input);
  return out;
}

void track_pieces(const std::vector<Tensor>& pieces, const Tensor& input) {
  for (const Tensor& piece : pieces) track_view(piece, input, ViewOrigin::several_outputs);
}

// Where the pieces of a tensor lie along a dimension.
struct PieceLayout {
  int dim;
  /// The start of each, and the end; none: each is one element long and without the dimension.
  std::vector<std::int64_t> bounds;

  bool drops_dim() const { return bounds.empty(); }
  std::int64_t start(std::size_t i) const {
    return drops_dim() ? static_cast<std::int64_t>(i) : bounds[i];
  }
  std::int64_t length(std::size_t i) const { return bounds[i + 1] - bounds[i]; }
  Tensor piece(const Tensor& whole, std::size_t i) const {
    return drops_dim() ? raw_select(whole, dim, start(i))
                       : raw_narrow(whole, dim, start(i), length(i));
  }
  Tensor recorded_piece(const Tensor& whole, std::size_t i) const {
    return drops_dim() ? select(whole, dim, start(i)) : narrow(whole, dim, start(i), length(i));
  }
  Tensor zeros_of(const TensorMeta& meta) const {
    if (!drops_dim()) return zeros(meta.shape, {meta.dtype, meta.device});
    // One zero stands for all elements of a piece.
    const Tensor single = zeros({}, {meta.dtype, meta.device});
    return make_view(single, meta.shape, Shape(meta.shape.dims(), 0), 0);
  }
};

// The gradients of all pieces of an input, put together to a new tensor of its shape; zeros stand
// in for the pieces that got none.
TensorList joined_gradient(const BackwardCall& call, const Shape& shape,
                           const PieceLayout& layout) {
  std::vector<Tensor> grads;
  for (std::size_t i = 0; i < call.grad_count(); ++i) {
    grads.push_back(call.grad(i).defined() ? call.grad(i) : layout.zeros_of(call.output(i)));
  }
  const MemoryFormat format =
      layout.drops_dim() ? MemoryFormat::row_major : common_memory_format(grads);
  Tensor whole = empty(shape, {call.output().dtype, call.output().device}, format);
  for (std::size_t i = 0; i < grads.size(); ++i) copy_into(layout.piece(whole, i), grads[i]);
  const std::string_view node = layout.drops_dim() ? "StackBackward" : "CatBackward";
  if (Recorder record(node, grads); record.is_needed()) {
    record.attach_differentiable(whole, [layout, count = grads.size()](BackwardCall& second) {
      TensorList pieces(count);
      for (std::size_t i = 0; i < count; ++i) pieces[i] = layout.recorded_piece(second.grad(), i);
      return pieces;
    });
  }
  return TensorList{whole};
}

std::vector<std::int64_t> bounds_of(const std::vector<Tensor>& pieces, int dim) {
  std::vector<std::int64_t> bounds = {0};
  for (const Tensor& piece : pieces) bounds.push_back(bounds.back() + piece.shape()[dim]);
  return bounds;
}

void record_pieces(std::string_view node, const Tensor& input, const std::vector<Tensor>& pieces,
                   PieceLayout layout) {
  Recorder record(node, {&input});
  record.attach_differentiable(
      pieces, [shape = input.shape(), layout = std::move(layout)](BackwardCall& call) {
        return joined_gradient(call, shape, layout);
      });
  track_pieces(pieces, input);
}

}  // namespace

Tensor select(const Tensor& input, std::int64_t dim, std::int64_t index) {
  const OpFront front(kSelect);
  const int position = checked_dim(input, dim, kSelect);
  const std::int64_t size = input.shape()[position];
  if (index < -size || index >= size) {
    throw std::invalid_argument(fmt::format(
        "[select] index {} is out of bounds for dimension {} with size {}", index, position, size));
  }
  const std::int64_t at = index < 0 ? index + size : index;
  return record_piece("SelectBackward", input, [position, at](const Tensor& whole) {
    return raw_select(whole, position, at);
  });
}

Tensor narrow(const Tensor& input, std::int64_t dim, std::int64_t start, std::int64_t length) {
  const OpFront front(kNarrow);
  const int position = checked_dim(input, dim, kNarrow);
  const std::int64_t size = input.shape()[position];
  const std::int64_t first = start < 0 ? start + size : start;
  if (first < 0 || length < 0 || first > size - length) {
    throw std::invalid_argument(fmt::format(
        "[narrow] start ({}) + length ({}) exceeds dimension size ({})", start, length, size));
  }
  return record_piece("SliceBackward", input, [position, first, length](const Tensor& whole) {
    return raw_narrow(whole, position, first, length);
  });
}

Tensor slice(const Tensor& input, std::int64_t dim, std::optional<std::int64_t> start,
             std::optional<std::int64_t> end, std::int64_t step) {
  const OpFront front(kSlice);
  const int position = checked_dim(input, dim, kSlice);
  if (step <= 0) {
    throw std::invalid_argument(
        fmt::format("[slice] step must be greater than zero, not {}", step));
  }
  const bool is_full = !start && !end && step == 1;
  if (is_full && Context::current().rules.skips_full_slices) return input;
  const std::int64_t size = input.shape()[position];
  const auto within = [size](std::int64_t place) {
    return std::clamp<std::int64_t>(place < 0 ? place + size : place, 0, size);
  };
  const std::int64_t first = within(start.value_or(0));
  const std::int64_t behind = std::max(first, within(end.value_or(size)));
  const std::int64_t count = behind == first ? 0 : (behind - first - 1) / step + 1;
  return record_piece("SliceBackward", input, [=](const Tensor& whole) {
    Shape sizes = whole.shape();
    Shape strides = whole.strides();
    sizes[position] = count;
    const std::int64_t offset = whole.impl()->offset + first * strides[position];
    // Of one element the stride is never used: it must not overflow.
    strides[position] *= std::min(step, std::max<std::int64_t>(size, 1));
    return make_view(whole, sizes, strides, offset);
  });
}

Tensor diagonal(const Tensor& input, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  const OpFront front(kDiagonal);
  const int first = checked_dim(input, dim1, kDiagonal);
  const int second = checked_dim(input, dim2, kDiagonal);
  if (first == second) {
    throw std::invalid_argument(
        fmt::format("[diagonal] diagonal dimensions cannot be identical {}, {}", dim1, dim2));
  }
  const std::int64_t at = std::clamp(offset, -input.shape()[first], input.shape()[second]);
  return record_piece("DiagonalBackward", input, [at, first, second](const Tensor& whole) {
    return raw_diagonal(whole, at, first, second);
  });
}

std::vector<Tensor> split(const Tensor& input, std::int64_t split_size, std::int64_t dim) {
  const OpFront front(kSplit);
  const int position = checked_dim(input, dim, kSplit);
  if (split_size <= 0) {
    throw std::invalid_argument(
        fmt::format("[split] split_size must be positive, not {}", split_size));
  }
  const std::int64_t size = input.shape()[position];
  require_countable((size - 1) / split_size + 1, kSplit);
  std::vector<Tensor> pieces;
  for (std::int64_t start = 0; start < size || pieces.empty(); start += split_size) {
    pieces.push_back(raw_narrow(input, position, start, std::min(split_size, size - start)));
  }
  record_pieces("SplitBackward", input, pieces, {position, bounds_of(pieces, position)});
  return pieces;
}

std::vector<Tensor> split(const Tensor& input, const Shape& sizes, std::int64_t dim) {
  return sizes.dims() == 1 ? split(input, sizes[0], dim) : split_by_sizes(input, sizes, dim);
}

std::vector<Tensor> split_by_sizes(const Tensor& input, const Shape& sizes, std::int64_t dim) {
  const OpFront front(kSplit);
  const int position = checked_dim(input, dim, kSplit);
  std::vector<Tensor> pieces;
  std::int64_t start = 0;
  for (const std::int64_t size : sizes) {
    if (size < 0 || size > input.shape()[position] - start) break;
    pieces.push_back(raw_narrow(input, position, start, size));
    start += size;
  }
  if (pieces.empty() || start != input.shape()[position] ||
      static_cast<int>(pieces.size()) != sizes.dims()) {
    throw std::invalid_argument(
        fmt::format("[split] sizes {} do not sum up to the size of dimension {} of {}", sizes.str(),
                    position, input.shape().str()));
  }
  record_pieces("SplitWithSizesBackward", input, pieces, {position, bounds_of(pieces, position)});
  return pieces;
}

std::vector<Tensor> unbind(const Tensor& input, std::int64_t dim) {
  const OpFront front(kUnbind);
  const int position = checked_dim(input, dim, kUnbind);
  require_countable(input.shape()[position], kUnbind);
  std::vector<Tensor> pieces;
  for (std::int64_t i = 0; i < input.shape()[position]; ++i) {
    pieces.push_back(raw_select(input, position, i));
  }
  record_pieces("UnbindBackward", input, pieces, {position, {}});
  return pieces;
}

std::vector<Tensor> chunk(const Tensor& input, std::int64_t chunks, std::int64_t dim) {
  const int position = checked_dim(input, dim, kChunk);
  if (chunks <= 0) {
    throw std::invalid_argument(
        fmt::format("[chunk] expects chunks to be greater than 0, got {}", chunks));
  }
  const std::int64_t size = input.shape()[position];
  return split(input, std::max<std::int64_t>(1, size / chunks + (size % chunks != 0 ? 1 : 0)),
               position);
}

std::vector<OpDef> slice_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  using Split = std::vector<Tensor> (*)(const Tensor&, const Shape&, std::int64_t);
  return {
      define(kSelect, kBoth, &select, {"input", "dim", "index"}),
      define(kNarrow, kBoth, &narrow, {"input", "dim", "start", "length"}),
      define(kSlice, kMethod, &slice,
             {"input", {"dim", std::int64_t{0}}, "start", "end_", {"step", std::int64_t{1}}}),
      define(kDiagonal, kBoth, &diagonal,
             {"input",
              {"offset", std::int64_t{0}},
              {"dim1", std::int64_t{0}},
              {"dim2", std::int64_t{1}}}),
      define(kSplit, kPythonFunction | kMethod, static_cast<Split>(&split),
             {"input", "split_size", {"dim", std::int64_t{0}}}),
      define(kUnbind, kBoth, &unbind, {"input", {"dim", std::int64_t{0}}}),
      define(kChunk, kBoth, &chunk, {"input", "chunks", {"dim", std::int64_t{0}}}),
  };
}

}  // namespace ohm::ops
