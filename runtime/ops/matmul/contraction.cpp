#include "runtime/ops/matmul/contraction.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/autocast_guard.h"
#include "runtime/autograd/recorder.h"
#include "runtime/base/dim_mask.h"
#include "runtime/base/rows.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/matmul/vector_product.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kTensordot{"tensordot", CastPolicy::widest};
constexpr OpInfo kInner{"inner"};
constexpr OpInfo kKron{"kron"};
constexpr OpInfo kCross{"cross", CastPolicy::widest};

// The pairs of dimensions that are summed over.
struct Pairs {
  Shape of_a;
  Shape of_b;
};

Pairs pairs_of(const Tensor& a, const Tensor& b, std::int64_t dims,
               const std::optional<Shape>& dims_self, const std::optional<Shape>& dims_other) {
  if (dims_self.has_value() != dims_other.has_value()) {
    throw std::invalid_argument("[tensordot] expected both of dims_self and dims_other, or none");
  }
  if (dims_self) return {*dims_self, *dims_other};
  if (dims < 0 || dims > std::min(a.dims(), b.dims())) {
    throw std::invalid_argument(
        fmt::format("[tensordot] expects dims from 0 to {}, but got dims={}",
                    std::min(a.dims(), b.dims()), dims));
  }
  Pairs pairs;
  for (int i = 0; i < static_cast<int>(dims); ++i) {
    pairs.of_a.push_back(a.dims() - static_cast<int>(dims) + i);
    pairs.of_b.push_back(i);
  }
  return pairs;
}

Shape wrapped_dims(const Shape& dims, const Tensor& tensor) {
  Shape result;
  DimMask seen = 0;
  for (const std::int64_t dim : dims) {
    const int position = wrap_dim(dim, tensor.dims(), "tensordot");
    if (tensor.dims() == 0 || contains(seen, position)) {
      throw std::invalid_argument(
          fmt::format("[tensordot] dim {} appears multiple times in the list of dims", position));
    }
    seen = with(seen, position);
    result.push_back(position);
  }
  return result;
}

// What is left of a tensor beside the pairs.
struct Rest {
  Shape dims;
  Shape sizes;
};

Rest rest_of(const Tensor& tensor, const Shape& paired) {
  Rest rest;
  for (int dim = 0; dim < tensor.dims(); ++dim) {
    if (std::find(paired.begin(), paired.end(), dim) != paired.end()) continue;
    rest.dims.push_back(dim);
    rest.sizes.push_back(tensor.shape()[dim]);
  }
  return rest;
}

Shape joined(const Shape& first, const Shape& second) {
  Shape result = first;
  for (const std::int64_t value : second) result.push_back(value);
  return result;
}

// A size of 1 beside a longer one is the sum's: the other tensor is summed first.
std::int64_t match_pairs(Tensor& a, Tensor& b, const Pairs& pairs) {
  std::int64_t summed = 1;
  for (int i = 0; i < pairs.of_a.dims(); ++i) {
    const std::int64_t of_a = a.shape()[static_cast<int>(pairs.of_a[i])];
    const std::int64_t of_b = b.shape()[static_cast<int>(pairs.of_b[i])];
    if (of_b == 1) {
      a = sum(a, Shape{pairs.of_a[i]}, true, std::nullopt);
    } else if (of_a == 1) {
      b = sum(b, Shape{pairs.of_b[i]}, true, std::nullopt);
    } else if (of_a == of_b) {
      summed *= of_a;
    } else {
      throw std::invalid_argument(fmt::format(
          "[tensordot] contracted dimensions need to match, but first has size {} in dim {} and "
          "second has size {} in dim {}",
          of_a, pairs.of_a[i], of_b, pairs.of_b[i]));
    }
  }
  return summed;
}

// Of tensors that nothing is left of beside the pairs but sizes of 1.
Tensor full_contraction(const Tensor& a, const Tensor& b, const Pairs& pairs, const Rest& rest_a,
                        const Rest& rest_b) {
  const auto is_in_order = [](const Tensor& tensor, const Shape& dims) {
    return tensor.is_contiguous() && std::is_sorted(dims.begin(), dims.end());
  };
  if (is_in_order(a, pairs.of_a) && is_in_order(b, pairs.of_b)) {
    return dot(view(a, {-1}), view(b, {-1}));
  }
  Shape sizes;
  for (const std::int64_t dim : pairs.of_a) sizes.push_back(a.shape()[static_cast<int>(dim)]);
  const Tensor left = view(permute(a, joined(rest_a.dims, pairs.of_a)), sizes);
  const Tensor right = view(permute(b, joined(pairs.of_b, rest_b.dims)), sizes);
  const Tensor products = mul(left, right);
  return sum(products);
}

// ---- cross products -----------------------------------------------------------------------------

int crossed_dim(const Tensor& input, const Tensor& other, std::optional<std::int64_t> given) {
  if (input.dims() != other.dims() || input.dims() == 0) {
    throw std::invalid_argument(
        fmt::format("[cross] inputs must have the same number of dimensions, but got {} and {}",
                    input.shape().str(), other.shape().str()));
  }
  int dim = 0;
  if (given) {
    dim = wrap_dim(*given, input.dims(), "cross");
  } else {
    while (dim < input.dims() - 1 && input.shape()[dim] != 3) ++dim;
  }
  if (input.shape()[dim] != 3 || other.shape()[dim] != 3) {
    throw std::invalid_argument(
        fmt::format("[cross] inputs dimension {} must have length 3, got {} and {}", dim,
                    input.shape().str(), other.shape().str()));
  }
  return dim;
}

template <class T>
void cross_rows(const Rows& rows, const T* a, const T* b, T* out) {
  for_each_row_start(rows, [&](std::int64_t start) {
    for (int i = 0; i < 3; ++i) {
      const std::int64_t next = start + (i + 1) % 3 * rows.inner;
      const std::int64_t last = start + (i + 2) % 3 * rows.inner;
      out[start + i * rows.inner] = a[next] * b[last] - a[last] * b[next];
    }
  });
}

Tensor raw_cross(const Tensor& input, const Tensor& other, int dim) {
  const Shape shape = broadcast_shapes(input.shape(), other.shape(), "cross");
  Tensor out = empty(shape, options_of(input));
  if (!out.has_values() || !input.has_values() || !other.has_values()) return out;
  visit_computed(out.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> a(broadcast_view(input, shape));
    const HostInput<T> b(broadcast_view(other, shape));
    HostOutput<T> result(out);
    cross_rows(rows_along(shape, dim), a.data(), b.data(), result.data());
    result.commit();
  });
  return out;
}

Tensor crossed(const Tensor& input, const Tensor& other, int dim) {
  Recorder record("LinalgCrossBackward", {&input, &other});
  record.save(record.needs(0) ? other : Tensor());
  record.save(record.needs(1) ? input : Tensor());
  Tensor out = raw_cross(input, other, dim);
  record.attach_differentiable(out, [dim](BackwardCall& call) {
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = crossed(call.grad(), call.saved(1), dim);
    if (call.needs(0)) grads[0] = crossed(call.saved(0), call.grad(), dim);
    return grads;
  });
  return out;
}

// Every second dimension is of the one, the others of the other.
Shape interleaved(const Shape& sizes, int dims, bool is_first) {
  Shape result;
  const int missing = dims - sizes.dims();
  for (int dim = 0; dim < dims; ++dim) {
    const std::int64_t size = dim < missing ? 1 : sizes[dim - missing];
    result.push_back(is_first ? size : 1);
    result.push_back(is_first ? 1 : size);
  }
  return result;
}

}  // namespace

Tensor tensordot(const Tensor& given_a, const Tensor& given_b, std::int64_t dims,
                 const std::optional<Shape>& dims_self, const std::optional<Shape>& dims_other) {
  const OpFront front(kTensordot);
  const std::vector<Tensor> operands = front.widest({given_a, given_b});
  Tensor a = operands[0];
  Tensor b = operands[1];
  require_same_device(a, b, kTensordot);
  const AutocastGuard plain(false, autocast_settings().dtype);
  const Pairs given = pairs_of(a, b, dims, dims_self, dims_other);
  const Pairs pairs{wrapped_dims(given.of_a, a), wrapped_dims(given.of_b, b)};
  if (pairs.of_a.dims() != pairs.of_b.dims()) {
    throw std::invalid_argument("[tensordot] both dimension lists should have same length");
  }
  const std::int64_t summed = match_pairs(a, b, pairs);
  const Rest rest_a = rest_of(a, pairs.of_a);
  const Rest rest_b = rest_of(b, pairs.of_b);
  if (Context::current().rules.full_contractions_are_dots && rest_a.sizes.numel() == 1 &&
      rest_b.sizes.numel() == 1) {
    const Tensor whole = full_contraction(a, b, pairs, rest_a, rest_b);
    return reshape(whole, joined(rest_a.sizes, rest_b.sizes));
  }
  a = reshape(permute(a, joined(rest_a.dims, pairs.of_a)), {rest_a.sizes.numel(), summed});
  b = reshape(permute(b, joined(pairs.of_b, rest_b.dims)), {summed, rest_b.sizes.numel()});
  return reshape(mm(a, b), joined(rest_a.sizes, rest_b.sizes));
}

Tensor inner(const Tensor& input, const Tensor& other) {
  const OpFront front(kInner);
  require_same_device(input, other, kInner);
  if (input.dims() == 0 || other.dims() == 0) return mul(input, other);
  if (input.shape()[input.dims() - 1] != other.shape()[other.dims() - 1]) {
    throw std::invalid_argument(
        fmt::format("[inner] the last dimensions must match but got {} and {}", input.shape().str(),
                    other.shape().str()));
  }
  return tensordot(input, other, 0, Shape{-1}, Shape{-1});
}

Tensor kron(const Tensor& input, const Tensor& other) {
  const OpFront front(kKron);
  require_same_device(input, other, kKron);
  const int dims = std::max(input.dims(), other.dims());
  if (2 * dims > kMaxDims) {
    throw std::invalid_argument(
        fmt::format("[kron] {} dimensions are too many", std::max(input.dims(), other.dims())));
  }
  Shape shape;
  const Shape blocks = interleaved(input.shape(), dims, true);
  const Shape elements = interleaved(other.shape(), dims, false);
  for (int dim = 0; dim < dims; ++dim) {
    std::int64_t size = 0;
    if (__builtin_mul_overflow(blocks[2 * dim], elements[2 * dim + 1], &size)) {
      throw std::invalid_argument("[kron] the result is too large");
    }
    shape.push_back(size);
  }
  const Tensor left = unsafe_view(input, blocks);
  const Tensor right = unsafe_view(other, elements);
  return unsafe_view(mul(left, right), shape);
}

Tensor cross(const Tensor& given, const Tensor& given_other, std::optional<std::int64_t> dim) {
  const OpFront front(kCross);
  const std::vector<Tensor> operands = front.widest({given, given_other});
  const Tensor& input = operands[0];
  const Tensor& other = operands[1];
  require_alike(kCross, input, other);
  return crossed(input, other, crossed_dim(input, other, dim));
}

std::vector<OpDef> contraction_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kTensordot, kPythonFunction, &tensordot,
             {"a", "b", {"dims", std::int64_t{2}}, "dims_self", "dims_other"}),
      define(kInner, kBoth, &inner, {"input", "other"}),
      define(kKron, kBoth, &kron, {"input", "other"}),
      define(kCross, kBoth, &cross, {"input", "other", "dim"}),
  };
}

}  // namespace ohm::ops
