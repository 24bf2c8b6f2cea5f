#include "runtime/ops/shape/view.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/autograd/recorded_arithmetic.h"
#include "runtime/autograd/recorder.h"
#include "runtime/autograd/view_history.h"
#include "runtime/base/strided.h"
#include "runtime/ops/op_front.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kView{"view"};
constexpr OpInfo kReshape{"reshape"};
constexpr OpInfo kFlatten{"flatten"};
constexpr OpInfo kTranspose{"transpose"};
constexpr OpInfo kT{"t"};
constexpr OpInfo kPermute{"permute"};
constexpr OpInfo kExpand{"expand"};
constexpr OpInfo kUnsqueeze{"unsqueeze"};
constexpr OpInfo kSqueeze{"squeeze"};

// The strides with which `input` can be seen as `shape` without a copy, if there are any: a run of
// dimensions can be merged or split only where it lies in memory without gaps.
std::optional<Shape> view_strides(const Tensor& input, const Shape& shape) {
  if (input.numel() == 0) return contiguous_strides(shape);
  Shape strides(shape.dims(), 0);
  int target = shape.dims() - 1;
  std::int64_t base_stride = input.dims() == 0 ? 1 : input.strides().back();
  std::int64_t run = 1;
  std::int64_t covered = 1;
  for (int dim = input.dims() - 1; dim >= 0; --dim) {
    run *= input.shape()[dim];
    const bool ends_run =
        dim == 0 || (input.shape()[dim - 1] != 1 && input.strides()[dim - 1] != run * base_stride);
    if (!ends_run) continue;
    while (target >= 0 && (covered < run || shape[target] == 1)) {
      strides[target] = covered * base_stride;
      covered *= shape[target];
      --target;
    }
    if (covered != run) return std::nullopt;
    if (dim > 0) {
      base_stride = input.strides()[dim - 1];
      run = 1;
      covered = 1;
    }
  }
  for (; target >= 0; --target) strides[target] = covered * base_stride;
  return strides;
}

// A gradient in the shape of what it is the gradient of: a view where possible.
Tensor shaped_back(const Tensor& grad, const Shape& shape) {
  return Context::current().state.grad_enabled ? reshape(grad, shape)
                                               : unrecorded_reshape(grad, shape);
}

// A view, and a backward step that is a function of the gradient alone, recorded under
// create_graph.
template <class Backward>
Tensor record_view(std::string_view node, const Tensor& input, const Shape& sizes,
                   const Shape& strides, std::int64_t offset, Backward backward) {
  Tensor out = make_view(input, sizes, strides, offset);
  if (Recorder record(node, {&input}); record.is_needed()) {
    record.attach_differentiable(
        out, [backward](BackwardCall& call) { return TensorList{backward(call.grad())}; });
  }
  track_view(out, input);
  return out;
}

Tensor view_as(std::string_view node, const Tensor& input, const Shape& shape,
               const Shape& strides) {
  return record_view(
      node, input, shape, strides, input.impl()->offset,
      [shape = input.shape()](const Tensor& grad) { return shaped_back(grad, shape); });
}

struct Extent {
  Shape sizes;
  Shape strides;
};

// The new dimension strides over all that lies behind it, the last one over an element.
Extent with_single_dim(const Tensor& tensor, int position) {
  Extent extent{tensor.shape(), tensor.strides()};
  const std::int64_t stride =
      position < tensor.dims() ? extent.sizes[position] * extent.strides[position] : 1;
  extent.sizes.insert(position, 1);
  extent.strides.insert(position, stride);
  return extent;
}

// The dimensions of size 1 that `shape` has, each with the stride that a new one has: a column out
// of a matrix still is what cuBLAS takes. `only`: the one that is missing, or -1.
Tensor unsqueezed_to(const Tensor& grad, const Shape& shape, int only) {
  Tensor result = grad;
  for (int dim = 0; dim < shape.dims(); ++dim) {
    if (shape[dim] != 1 || (only >= 0 && only != dim)) continue;
    if (Context::current().state.grad_enabled) {
      result = unsqueeze(result, dim);
    } else {
      const Extent extent = with_single_dim(result, dim);
      result = make_view(result, extent.sizes, extent.strides, result.impl()->offset);
    }
  }
  return result;
}

Tensor permuted(const Tensor& tensor, const Shape& order) {
  Shape sizes;
  Shape strides;
  for (const std::int64_t dim : order) {
    sizes.push_back(tensor.shape()[static_cast<int>(dim)]);
    strides.push_back(tensor.strides()[static_cast<int>(dim)]);
  }
  return make_view(tensor, sizes, strides, tensor.impl()->offset);
}

Tensor permute_as(std::string_view node, const Tensor& input, const Shape& order) {
  Shape inverse(order.dims(), 0);
  for (int i = 0; i < order.dims(); ++i) inverse[static_cast<int>(order[i])] = i;
  const Tensor shape = permuted(input, order);
  return record_view(node, input, shape.shape(), shape.strides(), input.impl()->offset,
                     [inverse](const Tensor& grad) {
                       const bool is_recorded = Context::current().state.grad_enabled;
                       return is_recorded ? permute(grad, inverse) : permuted(grad, inverse);
                     });
}

Shape identity_order(int dims) {
  Shape order;
  for (int dim = 0; dim < dims; ++dim) order.push_back(dim);
  return order;
}

}  // namespace

Shape inferred_shape(const Shape& wanted, std::int64_t numel, const char* op) {
  Shape shape = wanted;
  int unknown = -1;
  std::int64_t known = 1;
  for (int dim = 0; dim < wanted.dims(); ++dim) {
    if (wanted[dim] == -1 && unknown < 0) {
      unknown = dim;
    } else if (wanted[dim] < 0 || __builtin_mul_overflow(known, wanted[dim], &known)) {
      throw std::invalid_argument(fmt::format("[{}] invalid shape {}", op, wanted.str()));
    }
  }
  if (unknown >= 0 && known != 0 && numel % known == 0) {
    shape[unknown] = numel / known;
    known = numel;
  }
  if (known != numel || (unknown >= 0 && shape[unknown] < 0)) {
    throw std::invalid_argument(
        fmt::format("[{}] shape {} is invalid for input of size {}", op, wanted.str(), numel));
  }
  return shape;
}

Tensor view(const Tensor& input, const Shape& wanted) {
  const OpFront front(kView);
  const Shape shape = inferred_shape(wanted, input.numel(), "view");
  const std::optional<Shape> strides = view_strides(input, shape);
  if (!strides) {
    throw std::invalid_argument(
        fmt::format("[view] view size {} is not compatible with input tensor's size {} and stride "
                    "{} (at least one dimension spans across two contiguous subspaces). Use "
                    "reshape instead.",
                    shape.str(), input.shape().str(), input.strides().str()));
  }
  return view_as("ViewBackward", input, shape, *strides);
}

Tensor unsafe_view(const Tensor& input, const Shape& shape) {
  Tensor out = view(input, shape);
  forget_view(out);
  return out;
}

Tensor unrecorded_reshape(const Tensor& input, const Shape& shape) {
  const std::optional<Shape> strides = view_strides(input, shape);
  if (strides) return make_view(input, shape, *strides, input.impl()->offset);
  return reshaped_copy(row_major(input), shape);
}

Tensor reshape(const Tensor& input, const Shape& wanted) {
  const OpFront front(kReshape);
  const Shape shape = inferred_shape(wanted, input.numel(), "reshape");
  if (const std::optional<Shape> strides = view_strides(input, shape)) {
    return view_as("ViewBackward", input, shape, *strides);
  }
  Tensor dense = row_major(input);
  if (Recorder record("CloneBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(dense, [](BackwardCall& call) { return TensorList{call.grad()}; });
  }
  Tensor out = reshaped_copy(dense, shape);
  if (Recorder record("UnsafeViewBackward", {&dense}); record.is_needed()) {
    record.attach_differentiable(out, [original = dense.shape()](BackwardCall& call) {
      return TensorList{shaped_back(call.grad(), original)};
    });
  }
  return out;
}

Tensor flatten(const Tensor& input, std::int64_t start_dim, std::int64_t end_dim) {
  const OpFront front(kFlatten);
  if (input.dims() == 0) return reshape(input, {1});
  const int first = wrap_dim(start_dim, input.dims(), "flatten");
  const int last = wrap_dim(end_dim, input.dims(), "flatten");
  if (first > last) {
    throw std::invalid_argument("[flatten] start_dim cannot come after end_dim");
  }
  if (first == last) return input;
  Shape shape;
  std::int64_t merged = 1;
  for (int dim = 0; dim < input.dims(); ++dim) {
    if (dim >= first && dim <= last) merged *= input.shape()[dim];
    if (dim == last) shape.push_back(merged);
    if (dim < first || dim > last) shape.push_back(input.shape()[dim]);
  }
  return reshape(input, shape);
}

Tensor transpose(const Tensor& input, std::int64_t dim0, std::int64_t dim1) {
  const OpFront front(kTranspose);
  const int first = wrap_dim(dim0, input.dims(), "transpose");
  const int second = wrap_dim(dim1, input.dims(), "transpose");
  if (input.dims() == 0) return input;
  Shape order = identity_order(input.dims());
  std::swap(order[first], order[second]);
  return permute_as("TransposeBackward", input, order);
}

Tensor t(const Tensor& input) {
  const OpFront front(kT);
  if (input.dims() > 2) {
    throw std::invalid_argument(
        fmt::format("[t] expects a tensor with <= 2 dimensions, but self is {}D", input.dims()));
  }
  if (input.dims() < 2) return permute_as("TBackward", input, identity_order(input.dims()));
  return permute_as("TBackward", input, {1, 0});
}

Tensor permute(const Tensor& input, const Shape& dims) {
  const OpFront front(kPermute);
  Shape order;
  std::uint32_t seen = 0;
  for (const std::int64_t dim : dims) order.push_back(wrap_dim(dim, input.dims(), "permute"));
  for (const std::int64_t dim : order) seen |= 1U << static_cast<unsigned>(dim);
  if (order.dims() != input.dims() || seen != (1U << static_cast<unsigned>(input.dims())) - 1U) {
    throw std::invalid_argument(fmt::format("[permute] {} is not an order of the dimensions of {}",
                                            dims.str(), input.shape().str()));
  }
  return permute_as("PermuteBackward", input, order);
}

Tensor expand(const Tensor& input, const Shape& wanted) {
  const OpFront front(kExpand);
  const int missing = wanted.dims() - input.dims();
  Shape shape = wanted;
  Shape strides(wanted.dims(), 0);
  bool fits = missing >= 0;
  for (int dim = 0; fits && dim < wanted.dims(); ++dim) {
    const std::int64_t size = dim < missing ? 1 : input.shape()[dim - missing];
    if (shape[dim] == -1 && dim >= missing) shape[dim] = size;
    fits = shape[dim] >= 0 && (size == 1 || size == shape[dim]);
    if (dim >= missing && size == shape[dim]) strides[dim] = input.strides()[dim - missing];
  }
  if (!fits) {
    throw std::invalid_argument(
        fmt::format("[expand] the expanded size {} must match the existing size {} at every "
                    "dimension that is not 1",
                    wanted.str(), input.shape().str()));
  }
  return record_view(
      "ExpandBackward", input, shape, strides, input.impl()->offset,
      [shape = input.shape()](const Tensor& grad) { return recorded_sum_to(grad, shape); });
}

Tensor broadcast_view(const Tensor& tensor, const Shape& shape) {
  const Shape strides = broadcast_strides(tensor.shape(), tensor.strides(), shape);
  return make_view(tensor, shape, strides, tensor.impl()->offset);
}

Tensor unsqueeze(const Tensor& input, std::int64_t dim) {
  const OpFront front(kUnsqueeze);
  const int position = wrap_dim(dim, input.dims() + 1, "unsqueeze");
  const Extent extent = with_single_dim(input, position);
  return view_as("UnsqueezeBackward", input, extent.sizes, extent.strides);
}

Tensor squeeze(const Tensor& input, std::optional<std::int64_t> dim) {
  const OpFront front(kSqueeze);
  const int only = dim ? wrap_dim(*dim, input.dims(), "squeeze") : -1;
  Shape sizes;
  Shape strides;
  for (int i = 0; i < input.dims(); ++i) {
    if (input.shape()[i] == 1 && (only < 0 || only == i)) continue;
    sizes.push_back(input.shape()[i]);
    strides.push_back(input.strides()[i]);
  }
  if (sizes.dims() < input.dims()) {
    return record_view("SqueezeBackward", input, sizes, strides, input.impl()->offset,
                       [shape = input.shape(), only](const Tensor& grad) {
                         return unsqueezed_to(grad, shape, only);
                       });
  }
  // The gradient goes on as it came, and not as a view of its own.
  return record_view("SqueezeBackward", input, sizes, strides, input.impl()->offset,
                     [](const Tensor& grad) { return grad; });
}

std::vector<OpDef> view_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kView, kMethod, &view, {"input", "shape"}),
      define(kReshape, kBoth, &reshape, {"input", "shape"}),
      define(kFlatten, kBoth, &flatten,
             {"input", {"start_dim", std::int64_t{0}}, {"end_dim", std::int64_t{-1}}}),
      define(kTranspose, kBoth, &transpose, {"input", "dim0", "dim1"}),
      define(kT, kBoth, &t, {"input"}),
      define(kPermute, kBoth, &permute, {"input", "dims"}),
      define(kExpand, kMethod, &expand, {"input", "shape"}),
      define(kUnsqueeze, kBoth, &unsqueeze, {"input", "dim"}),
      define(kSqueeze, kBoth, &squeeze, {"input", "dim"}),
  };
}

}  // namespace ohm::ops
