#include "runtime/ops/differences.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/base/dim_mask.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/comparison.h"
#include "runtime/ops/concat.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/sample_cube.h"
#include "runtime/ops/scan.h"
#include "runtime/ops/slice.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kDiff{"diff"};
constexpr OpInfo kTrapezoid{"trapezoid"};
constexpr OpInfo kCumulativeTrapezoid{"cumulative_trapezoid"};

Tensor with_ends(const Tensor& input, int dim, const std::optional<Tensor>& prepend,
                 const std::optional<Tensor>& append) {
  if (!prepend && !append) return input;
  std::vector<Tensor> parts;
  if (prepend) parts.push_back(*prepend);
  parts.push_back(input);
  if (append) parts.push_back(*append);
  return cat(parts, dim);
}

Tensor between_neighbours(const Tensor& input, int dim) {
  const std::int64_t length = input.shape()[dim] - 1;
  const Tensor first = narrow(input, dim, 0, length);
  const Tensor second = narrow(input, dim, 1, length);
  return input.dtype() == DType::boolean ? logical_xor(second, first) : sub(second, first);
}

// ---- integrals ----------------------------------------------------------------------------------

void require_samples(const OpInfo& info, const Tensor& y, const std::optional<Tensor>& x) {
  const bool has_bools = y.dtype() == DType::boolean || (x && x->dtype() == DType::boolean);
  if (y.dims() > 0 && !has_bools && (!x || x->dims() > 0)) return;
  throw std::invalid_argument(
      fmt::format("[{}] expected samples along a dimension, of another dtype than bool, got {}",
                  info.name, x ? describe(y) + " and " + describe(*x) : describe(y)));
}

// The places of the samples, seen with as many dimensions as they have.
Tensor seen_along(const OpInfo& info, const Tensor& x, const Tensor& y, int dim) {
  if (x.dims() == 1) {
    if (x.shape()[0] != y.shape()[dim]) {
      throw std::invalid_argument(
          fmt::format("[{}] There must be one `x` value for each sample point, got {} for {}",
                      info.name, x.shape().str(), y.shape().str()));
    }
    Shape sizes;
    for (int i = 0; i < y.dims(); ++i) sizes.push_back(i == dim ? x.shape()[0] : 1);
    return view(x, sizes);
  }
  if (x.dims() >= y.dims()) return x;
  Shape sizes;
  for (int i = x.dims(); i < y.dims(); ++i) sizes.push_back(1);
  for (const std::int64_t size : x.shape()) sizes.push_back(size);
  return view(x, sizes);
}

/// Neighbours along a dimension: all elements but the last, and all but the first.
struct Neighbours {
  Tensor left;
  Tensor right;
};

Neighbours neighbours_of(const OpInfo& info, const Tensor& tensor, std::int64_t dim) {
  const int position = wrap_dim(dim, tensor.dims(), info.name.data());
  const std::int64_t size = tensor.shape()[position];
  const std::int64_t length = std::max<std::int64_t>(size - 1, 0);
  return {narrow(tensor, position, 0, length),
          narrow(tensor, position, std::min<std::int64_t>(size, 1), length)};
}

Tensor steps_between(const OpInfo& info, const Tensor& x, const Tensor& y, int dim) {
  const Neighbours ends = neighbours_of(info, seen_along(info, x, y, dim), dim);
  return sub(ends.right, ends.left);
}

Tensor trapezoid_of_even_steps(const Tensor& y, double step, std::int64_t dim) {
  const Tensor last = select(y, dim, -1);
  const Tensor first = select(y, dim, 0);
  const Tensor ends = add(first, last);
  const Tensor half = mul(ends, 0.5);
  const Tensor whole = sum(y, Shape{dim}, false, std::nullopt);
  const Tensor inner = sub(whole, half);
  return mul(inner, step);
}

Tensor trapezoid(const Tensor& y, const std::optional<Tensor>& x, double dx, std::int64_t dim) {
  const OpFront front(kTrapezoid);
  require_samples(kTrapezoid, y, x);
  const int position = wrap_dim(dim, y.dims(), "trapezoid");
  if (y.shape()[position] == 0) {
    return zeros(reduced_shape(y.shape(), with(0, position), false), options_of(y));
  }
  if (!x) return trapezoid_of_even_steps(y, dx, position);
  const Tensor steps = steps_between(kTrapezoid, *x, y, position);
  const Neighbours ends = neighbours_of(kTrapezoid, y, position);
  const Tensor sums = add(ends.left, ends.right);
  const Tensor weighted = mul(sums, steps);
  const Tensor doubled = sum(weighted, Shape{position}, false, std::nullopt);
  return div(doubled, 2.0);
}

Tensor cumulative_trapezoid(const Tensor& y, const std::optional<Tensor>& x, double dx,
                            std::int64_t dim) {
  const OpFront front(kCumulativeTrapezoid);
  require_samples(kCumulativeTrapezoid, y, x);
  const int position = wrap_dim(dim, y.dims(), "cumulative_trapezoid");
  if (!x) {
    const Neighbours ends = neighbours_of(kCumulativeTrapezoid, y, position);
    const Tensor sums = add(ends.left, ends.right);
    const Tensor means = mul(sums, dx / 2.0);
    return cumsum(means, position);
  }
  const Tensor steps = steps_between(kCumulativeTrapezoid, *x, y, position);
  const Neighbours ends = neighbours_of(kCumulativeTrapezoid, y, position);
  const Tensor sums = add(ends.left, ends.right);
  const Tensor weighted = mul(sums, steps);
  const Tensor doubled = cumsum(weighted, position);
  return div(doubled, 2.0);
}

std::vector<Sample> integrated_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {{randn({2, 5}, options)},
          {randn({2, 5}, options), randn({5}, options)},
          {randn({3, 2, 4}, options), randn({2, 4}, options), 1.0, std::int64_t{1}},
          {randn({3, 4}, options), Value(), 0.5, std::int64_t{0}}};
}

}  // namespace

Tensor diff(const Tensor& input, std::int64_t n, std::int64_t dim,
            const std::optional<Tensor>& prepend, const std::optional<Tensor>& append) {
  const OpFront front(kDiff);
  if (input.dims() == 0 || n < 0) {
    throw std::invalid_argument(fmt::format(
        "[diff] expects input to be at least one-dimensional and an order of 0 or more, got {} and "
        "{}",
        input.shape().str(), n));
  }
  const int position = wrap_dim(dim, input.dims(), "diff");
  Tensor result = with_ends(input, position, prepend, append);
  if (n == 0) return clone(result);
  const std::int64_t times = std::min(n, result.shape()[position]);
  for (std::int64_t i = 0; i < times; ++i) result = between_neighbours(result, position);
  return result;
}

std::vector<OpDef> difference_ops() {
  const auto one = std::int64_t{1};
  const ParamName last{"dim", std::int64_t{-1}};
  const ParamName step{"dx", 1.0};
  return {
      define(kTrapezoid, kFunction, &trapezoid, {"y", "x", step, last}, integrated_samples),
      define(kCumulativeTrapezoid, kFunction, &cumulative_trapezoid, {"y", "x", step, last},
             integrated_samples),
      define(kDiff, kFunction | kMethod, &diff,
             {"input", {"n", one}, {"dim", std::int64_t{-1}}, "prepend", "append"},
             [one] {
               return std::vector<Sample>{cube_and({})[0], cube_and({std::int64_t{2}, one})[0]};
             }),
  };
}

}  // namespace ohm::ops
