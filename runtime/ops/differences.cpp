#include "runtime/ops/differences.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/comparison.h"
#include "runtime/ops/concat.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/sample_cube.h"
#include "runtime/ops/slice.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kDiff{"diff"};

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
  return {
      define(kDiff, kFunction | kMethod, &diff,
             {"input", {"n", one}, {"dim", std::int64_t{-1}}, "prepend", "append"},
             [one] {
               return std::vector<Sample>{cube_and({})[0], cube_and({std::int64_t{2}, one})[0]};
             }),
  };
}

}  // namespace ohm::ops
