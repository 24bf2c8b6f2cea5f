#include "runtime/ops/part_writes.h"

#include <fmt/core.h>

#include <functional>
#include <optional>
#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/inplace_binary.h"
#include "runtime/ops/slice.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kSliceScatter{"slice_scatter"};
constexpr OpInfo kSelectScatter{"select_scatter"};
constexpr OpInfo kDiagonalScatter{"diagonal_scatter"};
constexpr OpInfo kFillDiagonal{"fill_diagonal_"};

/// The part of a tensor that is meant. A view.
using Part = std::function<Tensor(const Tensor&)>;
/// The same op once more, of another input and source.
using ScatterAgain = std::function<Tensor(const Tensor&, const Tensor&)>;

// Of the whole storage, so that the copy has the same strides.
Tensor copy_with_strides(const Tensor& tensor) {
  for (int dim = 0; dim < tensor.dims(); ++dim) {
    if (tensor.strides()[dim] == 0 && tensor.shape()[dim] > 1) return copy_of(tensor);
  }
  return make_view(copy_of_storage(tensor), tensor.shape(), tensor.strides(),
                   tensor.impl()->offset);
}

Tensor scattered_part(const OpInfo& info, std::string_view node, const Tensor& input,
                      const Tensor& src, const Part& part, const ScatterAgain& again) {
  const OpFront front(info);
  require_same_device(input, src, info);
  Tensor expected;
  {
    const NoGradGuard no_graph;
    expected = part(input);
  }
  if (!(expected.shape() == src.shape()) || src.dtype() != input.dtype() ||
      src.device() != input.device()) {
    throw std::invalid_argument(fmt::format("[{}] expected a src of shape {} for {}, got {}",
                                            info.name, expected.shape().str(), describe(input),
                                            describe(src)));
  }
  Recorder record(node, {&input, &src});
  Tensor out = copy_with_strides(input);
  {
    const NoGradGuard no_graph;
    copy_into(part(out), src);
  }
  record.attach_differentiable(out, [part, again, shape = src.shape()](BackwardCall& call) {
    const Tensor& grad = call.grad();
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(0)) grads[0] = again(grad, zeros(shape, options_of(grad)));
    if (call.needs(1)) grads[1] = part(grad);
    return grads;
  });
  return out;
}

Tensor slice_scatter(const Tensor& input, const Tensor& src, std::int64_t dim,
                     std::optional<std::int64_t> start, std::optional<std::int64_t> end,
                     std::int64_t step) {
  return scattered_part(
      kSliceScatter, "SliceScatterBackward", input, src,
      [=](const Tensor& whole) { return slice(whole, dim, start, end, step); },
      [=](const Tensor& whole, const Tensor& other) {
        return slice_scatter(whole, other, dim, start, end, step);
      });
}

Tensor select_scatter(const Tensor& input, const Tensor& src, std::int64_t dim,
                      std::int64_t index) {
  return scattered_part(
      kSelectScatter, "SelectScatterBackward", input, src,
      [=](const Tensor& whole) { return select(whole, dim, index); },
      [=](const Tensor& whole, const Tensor& other) {
        return select_scatter(whole, other, dim, index);
      });
}

Tensor diagonal_scatter(const Tensor& input, const Tensor& src, std::int64_t offset,
                        std::int64_t dim1, std::int64_t dim2) {
  return scattered_part(
      kDiagonalScatter, "DiagonalScatterBackward", input, src,
      [=](const Tensor& whole) { return diagonal(whole, offset, dim1, dim2); },
      [=](const Tensor& whole, const Tensor& other) {
        return diagonal_scatter(whole, other, offset, dim1, dim2);
      });
}

// ---- the diagonal from the first element on -----------------------------------------------------

void require_diagonal(const Tensor& input) {
  bool fits = input.dims() >= 2;
  for (int dim = 1; input.dims() > 2 && dim < input.dims(); ++dim) {
    fits = fits && input.shape()[dim] == input.shape()[0];
  }
  if (fits) return;
  throw std::invalid_argument(
      fmt::format("[fill_diagonal_] dimensions must be larger than 1, and all of one size where "
                  "there are more than two, got {}",
                  input.shape().str()));
}

Tensor fill_diagonal_(const Tensor& input, double fill_value) {
  const OpFront front(kFillDiagonal);
  require_diagonal(input);
  Tensor line = diagonal(input, 0, 0, 1);
  while (line.dims() > 1) line = diagonal(line, 0, 0, 1);
  fill_(line, fill_value);
  return input;
}

Tensor part_sample(const Shape& shape) { return randn(shape, {DType::float64, Device::cpu()}); }

}  // namespace

std::vector<OpDef> part_write_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const auto zero = std::int64_t{0};
  const auto one = std::int64_t{1};
  const ParamName offset{"offset", zero};
  return {
      define(kSliceScatter, kBoth, &slice_scatter,
             {"input", "src", {"dim", zero}, "start", "end", {"step", one}},
             [one] {
               return std::vector<Sample>{{part_sample({3, 6}), part_sample({3, 2}), one, one,
                                           std::int64_t{5}, std::int64_t{2}}};
             }),
      define(kSelectScatter, kBoth, &select_scatter, {"input", "src", "dim", "index"},
             [one] {
               return std::vector<Sample>{{part_sample({3, 4}), part_sample({3}), one, one}};
             }),
      define(kDiagonalScatter, kBoth, &diagonal_scatter,
             {"input", "src", offset, {"dim1", zero}, {"dim2", one}},
             [one] {
               return std::vector<Sample>{{part_sample({3, 4}), part_sample({3}), one}};
             }),
      define(kFillDiagonal, kMethod, &fill_diagonal_, {"input", "fill_value"}),
  };
}

}  // namespace ohm::ops
