#include "runtime/ops/restrided.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "runtime/autograd/recorder.h"
#include "runtime/autograd/strided_piece.h"
#include "runtime/autograd/view_history.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/sample_cube.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kAsStrided{"as_strided"};
constexpr OpInfo kUnsqueezeInplace{"unsqueeze_"};
constexpr OpInfo kSqueezeInplace{"squeeze_"};
constexpr OpInfo kTInplace{"t_"};
constexpr OpInfo kTransposeInplace{"transpose_"};
constexpr OpInfo kSwapaxesInplace{"swapaxes_"};

// ---- views by strides ---------------------------------------------------------------------------

// The elements of memory up to the last of a tensor that begins at `offset`; none where there are
// more than can be counted.
std::optional<std::int64_t> end_of(const Shape& sizes, const Shape& strides, std::int64_t offset) {
  std::int64_t end = offset;
  if (__builtin_add_overflow(end, 1, &end)) return std::nullopt;
  for (int dim = 0; dim < sizes.dims(); ++dim) {
    if (sizes[dim] == 0) return offset;
    std::int64_t reach = 0;
    if (__builtin_mul_overflow(sizes[dim] - 1, strides[dim], &reach)) return std::nullopt;
    if (__builtin_add_overflow(end, reach, &end)) return std::nullopt;
  }
  return end;
}

void require_inside(const Tensor& input, const Geometry& piece) {
  if (piece.sizes.dims() != piece.strides.dims()) {
    throw std::invalid_argument(
        fmt::format("[as_strided] mismatch in length of strides and shape: "
                    "{} and {}",
                    piece.strides.str(), piece.sizes.str()));
  }
  const auto is_negative = [](std::int64_t number) { return number < 0; };
  if (piece.offset < 0 || std::any_of(piece.sizes.begin(), piece.sizes.end(), is_negative) ||
      std::any_of(piece.strides.begin(), piece.strides.end(), is_negative)) {
    throw std::invalid_argument(
        fmt::format("[as_strided] sizes, strides and the offset must not be negative: {}, {}, {}",
                    piece.sizes.str(), piece.strides.str(), piece.offset));
  }
  const auto there = static_cast<std::int64_t>(input.storage().bytes() / item_bytes(input.dtype()));
  const std::optional<std::int64_t> end = end_of(piece.sizes, piece.strides, piece.offset);
  const bool is_empty = std::find(piece.sizes.begin(), piece.sizes.end(), 0) != piece.sizes.end();
  if (!is_empty && (!end || *end > there)) {
    throw std::invalid_argument(fmt::format(
        "[as_strided] sizes {}, strides {} and offset {} are out of bounds for storage of {} "
        "elements",
        piece.sizes.str(), piece.strides.str(), piece.offset, there));
  }
}

// ---- tensors that become views ------------------------------------------------------------------

// What a graph knows of the shape of `input` would not be true any more.
void require_free_shape(const Tensor& input, bool is_recorded, const OpInfo& info) {
  const AutogradMeta* const meta = autograd_meta(input);
  if (meta == nullptr) return;
  if (is_recorded && meta->view_of) {
    throw std::invalid_argument(fmt::format(
        "[{}] a view whose graph is recorded keeps its shape here: make another view of it",
        info.name));
  }
  if (meta->accumulator != nullptr || meta->grad.defined()) {
    throw std::invalid_argument(
        fmt::format("[{}] a leaf that a graph or a gradient knows keeps its shape", info.name));
  }
}

// `input` becomes what `look` makes of it. `backward`: the gradient of what it was.
template <class Look, class Backward>
Tensor become(const OpInfo& info, std::string_view node, const Tensor& input, Look look,
              Backward backward) {
  const OpFront front(info);
  Recorder record = Recorder::overwriting(info.name, node, {&input});
  require_free_shape(input, record.is_needed(), info);
  {
    const Tensor seen = look(detached_alias(input));
    TensorImpl& impl = *input.impl();
    impl.sizes = seen.shape();
    impl.strides = seen.strides();
    impl.is_contiguous = seen.is_contiguous();
  }
  input.bump_version();
  record.attach_differentiable(
      input, [backward](BackwardCall& call) { return TensorList{backward(call.grad())}; });
  return input;
}

Tensor unsqueeze_(const Tensor& input, std::int64_t dim) {
  const auto look = [dim](const Tensor& tensor) { return unsqueeze(tensor, dim); };
  const auto back = [dim](const Tensor& grad) { return squeeze(grad, dim); };
  return become(kUnsqueezeInplace, "UnsqueezeBackward", input, look, back);
}

Tensor squeeze_(const Tensor& input, std::optional<std::int64_t> dim) {
  const Shape shape = input.shape();
  const int only = dim ? wrap_dim(*dim, input.dims(), "squeeze_") : -1;
  const auto look = [dim](const Tensor& tensor) { return squeeze(tensor, dim); };
  const auto back = [shape, only](const Tensor& grad) {
    Tensor result = grad;
    for (int i = 0; i < shape.dims(); ++i) {
      if (shape[i] == 1 && (only < 0 || only == i)) result = unsqueeze(result, i);
    }
    return result;
  };
  return become(kSqueezeInplace, "SqueezeBackward", input, look, back);
}

Tensor transposed_over(const OpInfo& info, const Tensor& input, std::int64_t dim0,
                       std::int64_t dim1) {
  const auto swap = [dim0, dim1](const Tensor& tensor) { return transpose(tensor, dim0, dim1); };
  return become(info, "TransposeBackward", input, swap, swap);
}
Tensor transpose_(const Tensor& input, std::int64_t dim0, std::int64_t dim1) {
  return transposed_over(kTransposeInplace, input, dim0, dim1);
}
Tensor swapaxes_(const Tensor& input, std::int64_t axis0, std::int64_t axis1) {
  return transposed_over(kSwapaxesInplace, input, axis0, axis1);
}

Tensor t_(const Tensor& input) {
  const auto swap = [](const Tensor& tensor) { return t(tensor); };
  return become(kTInplace, "TBackward", input, swap, swap);
}

}  // namespace

Tensor as_strided(const Tensor& input, const Shape& size, const Shape& stride,
                  std::optional<std::int64_t> storage_offset) {
  const OpFront front(kAsStrided);
  const Geometry base = geometry_of(input);
  const Geometry piece{size, stride, storage_offset.value_or(base.offset)};
  require_inside(input, piece);
  Tensor view = strided_piece(input, base, piece);
  track_view(view, input);
  return view;
}

std::vector<OpDef> restrided_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kAsStrided, kBoth, &as_strided, {"input", "size", "stride", "storage_offset"},
             [] {
               return std::vector<Sample>{
                   cube_and({Shape{2, 3}, Shape{4, 1}, std::int64_t{5}})[0],
                   cube_and({Shape{4, 1, 3}, Shape{2, 7, 1}, Value()})[0],
                   cube_and({Shape{3, 2, 5}, Shape{4, 0, 1}, std::int64_t{2}})[0]};
             }),
      define(kUnsqueezeInplace, kMethod, &unsqueeze_, {"input", "dim"}),
      define(kSqueezeInplace, kMethod, &squeeze_, {"input", "dim"}),
      define(kTInplace, kMethod, &t_, {"input"}),
      define(kTransposeInplace, kMethod, &transpose_, {"input", "dim0", "dim1"}),
      define(kSwapaxesInplace, kMethod, &swapaxes_, {"input", "axis0", "axis1"}),
  };
}

}  // namespace ohm::ops
