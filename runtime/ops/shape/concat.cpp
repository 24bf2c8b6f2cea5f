#include "runtime/ops/shape/concat.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/laid_out.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kCat{"cat", CastPolicy::widest};
constexpr OpInfo kStack{"stack", CastPolicy::widest};

struct JoinedShape {
  Shape shape;
  DType dtype = DType::float32;
};

/// Tensors of shape [0] join tensors of any shape and add nothing to them.
bool adds_nothing(const Tensor& tensor) { return tensor.dims() == 1 && tensor.numel() == 0; }

/// The one whose shape the others have to have.
const Tensor& first_to_join(const std::vector<Tensor>& tensors) {
  const auto first = std::find_if_not(tensors.begin(), tensors.end(), adds_nothing);
  return first == tensors.end() ? tensors[0] : *first;
}

JoinedShape joined_shape(const std::vector<Tensor>& tensors, int dim) {
  JoinedShape result{first_to_join(tensors).shape(), tensors[0].dtype()};
  std::int64_t total = 0;
  for (const Tensor& tensor : tensors) {
    require_same_device(tensors[0], tensor, kCat);
    result.dtype = promote_types(result.dtype, tensor.dtype());
    if (adds_nothing(tensor)) continue;
    Shape expected = result.shape;
    if (tensor.dims() == expected.dims()) expected[dim] = tensor.shape()[dim];
    if (!(tensor.shape() == expected)) {
      throw std::invalid_argument(
          fmt::format("[cat] sizes of tensors must match except in dimension {}: {} and {}", dim,
                      result.shape.str(), tensor.shape().str()));
    }
    total += tensor.shape()[dim];
  }
  result.shape[dim] = total;
  return result;
}

Tensor piece_of(const Tensor& whole, int dim, std::int64_t start, std::int64_t length) {
  Shape sizes = whole.shape();
  sizes[dim] = length;
  return make_view(whole, sizes, whole.strides(),
                   whole.impl()->offset + start * whole.strides()[dim]);
}

Tensor slice_of(const Tensor& whole, int dim, std::size_t index) {
  Shape sizes = whole.shape();
  Shape strides = whole.strides();
  sizes.erase(dim);
  strides.erase(dim);
  return make_view(whole, sizes, strides,
                   whole.impl()->offset + static_cast<std::int64_t>(index) * whole.strides()[dim]);
}

// What is stacked before another dimension is joined in it, laid out as what is joined, and split.
Tensor empty_for_stack(const std::vector<Tensor>& tensors, int position, DType dtype) {
  const auto count = static_cast<std::int64_t>(tensors.size());
  const TensorOptions options{dtype, tensors[0].device()};
  Shape sizes = tensors[0].shape();
  Shape joined_sizes = sizes;
  sizes.insert(position, count);
  if (position == joined_sizes.dims()) return empty(sizes, options);
  joined_sizes[position] *= count;
  return unrecorded_reshape(empty(joined_sizes, options, common_memory_format(tensors)), sizes);
}

}  // namespace

Tensor cat(const std::vector<Tensor>& tensors, std::int64_t dim) {
  const OpFront front(kCat);
  if (tensors.empty()) throw std::invalid_argument("[cat] expected a non-empty list of tensors");
  const bool has_scalar = std::any_of(tensors.begin(), tensors.end(),
                                      [](const Tensor& tensor) { return tensor.dims() == 0; });
  if (has_scalar) {
    throw std::invalid_argument("[cat] zero-dimensional tensors cannot be concatenated");
  }
  const int position = wrap_dim(dim, first_to_join(tensors).dims(), "cat");
  const JoinedShape joined = joined_shape(tensors, position);
  Tensor out =
      empty(joined.shape, {joined.dtype, tensors[0].device()}, common_memory_format(tensors));
  std::int64_t start = 0;
  std::vector<std::optional<std::int64_t>> lengths;  // none: it adds nothing
  for (const Tensor& tensor : tensors) {
    if (adds_nothing(tensor)) {
      lengths.emplace_back();
      continue;
    }
    const std::int64_t length = tensor.shape()[position];
    lengths.emplace_back(length);
    copy_into(piece_of(out, position, start, length), tensor);
    start += length;
  }
  if (Recorder record("CatBackward", tensors); record.is_needed()) {
    record.attach_differentiable(out, [position, lengths](BackwardCall& call) {
      const auto piece = [&](std::int64_t start, std::int64_t length) {
        return call.is_recorded() ? narrow(call.grad(), position, start, length)
                                  : piece_of(call.grad(), position, start, length);
      };
      TensorList grads;
      std::int64_t first = 0;
      for (std::size_t i = 0; i < lengths.size(); ++i) {
        grads.emplace_back();
        if (call.needs(i) || call.is_recorded()) {  // each is a node, asked for or not
          grads.back() =
              lengths[i] ? piece(first, *lengths[i]) : zeros({0}, options_of(call.grad()));
        }
        first += lengths[i].value_or(0);
      }
      return grads;
    });
  }
  return out;
}

Tensor stack(const std::vector<Tensor>& tensors, std::int64_t dim) {
  const OpFront front(kStack);
  if (tensors.empty()) throw std::invalid_argument("[stack] expected a non-empty list of tensors");
  const int position = wrap_dim(dim, tensors[0].dims() + 1, "stack");
  DType dtype = tensors[0].dtype();
  for (const Tensor& tensor : tensors) {
    require_same_device(tensors[0], tensor, kStack);
    if (!(tensor.shape() == tensors[0].shape())) {
      throw std::invalid_argument(
          fmt::format("[stack] expects each tensor to be equal size, but got {} and {}",
                      tensors[0].shape().str(), tensor.shape().str()));
    }
    dtype = promote_types(dtype, tensor.dtype());
  }
  Tensor out = empty_for_stack(tensors, position, dtype);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    copy_into(slice_of(out, position, i), tensors[i]);
  if (Recorder record("StackBackward", tensors); record.is_needed()) {
    record.attach_differentiable(out, [position, count = tensors.size()](BackwardCall& call) {
      TensorList grads(count);
      for (std::size_t i = 0; i < count; ++i) {
        if (!call.needs(i) && !call.is_recorded()) continue;
        grads[i] = call.is_recorded() ? select(call.grad(), position, static_cast<std::int64_t>(i))
                                      : slice_of(call.grad(), position, i);
      }
      return grads;
    });
  }
  return out;
}

std::vector<OpDef> concat_ops() {
  return {
      define(kCat, kFunction, &cat, {"tensors", {"dim", std::int64_t{0}}}),
      define(kStack, kFunction, &stack, {"tensors", {"dim", std::int64_t{0}}}),
  };
}

}  // namespace ohm::ops
