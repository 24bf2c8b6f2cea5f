#include "runtime/ops/reduction/nan_reduction.h"

#include <vector>

#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/reduction_scratch.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/formula.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/reduction/reduction_kernel.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kNansum{"nansum"};
constexpr OpInfo kNanmean{"nanmean"};
constexpr OpInfo kCountNonzero{"count_nonzero"};

Tensor sum_of_numbers(const Tensor& input, DimMask folded, bool keepdim) {
  Tensor out = empty(reduced_shape(input.shape(), folded, keepdim), options_of(input));
  const ReductionScratch scratch(input, folded);
  if (!out.has_values() || lacks_values(input)) return out;
  std::vector<double> sums(static_cast<std::size_t>(out.numel()));
  for_each_folded(input, folded, [&](std::size_t slot, double x) {
    if (x == x) sums[slot] += x;
  });
  store_values(out, sums);
  return out;
}

// How many of each row are numbers.
Tensor count_of_numbers(const Tensor& input, const std::optional<Shape>& dim, bool keepdim) {
  const NoGradGuard no_graph;
  const Tensor is_number = isnan(input);
  map_elements(is_number, DType::boolean, functors::Equal(), is_number, 0.0);
  return sum(is_number, dim, keepdim, std::nullopt);
}

}  // namespace

Tensor nansum(const Tensor& input, const std::optional<Shape>& dim, bool keepdim) {
  if (!is_floating(input.dtype())) return sum(input, dim, keepdim, std::nullopt);
  const OpFront front(kNansum);
  const DimMask folded = folded_dims(input, dim, kNansum);
  Recorder record("NansumBackward", {&input});
  record.save(input);
  Tensor out = sum_of_numbers(input, folded, keepdim);
  record.attach_differentiable(out, [folded](BackwardCall& call) {
    const Tensor x = call.saved(0);
    const Tensor is_nan = isnan(x);
    const Tensor is_number = logical_not(is_nan);
    return TensorList{formula::product(expanded_over(call.grad(), x.shape(), folded), is_number)};
  });
  return out;
}

Tensor nanmean(const Tensor& input, const std::optional<Shape>& dim, bool keepdim) {
  const OpFront front(kNanmean);
  require_floating(input, kNanmean);
  const Tensor count = count_of_numbers(input, dim, keepdim);
  const Tensor total = nansum(input, dim, keepdim);
  return div(total, count);
}

Tensor count_nonzero(const Tensor& input, const std::optional<Shape>& dim) {
  const OpFront front(kCountNonzero);
  const NoGradGuard no_graph;
  const Tensor is_counted = ne(input, 0.0);
  return sum(is_counted, dim, false, std::nullopt);
}

std::vector<OpDef> nan_reduction_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName keepdim{"keepdim", false};
  return {
      define(kNansum, kBoth, &nansum, {"input", "dim", keepdim}),
      define(kNanmean, kBoth, &nanmean, {"input", "dim", keepdim}),
      define(kCountNonzero, kBoth, &count_nonzero, {"input", "dim"}),
  };
}

}  // namespace ohm::ops
