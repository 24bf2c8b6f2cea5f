#include "runtime/ops/reduction/norm.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/reduction_scratch.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/kernels/functors/reduce_split.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/kernels/launch/reduce_rows.h"
#include "runtime/kernels/launch/split_reduction.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/formula.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/reduction/reduction_kernel.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kDist{"dist", CastPolicy::float32};
constexpr OpInfo kNorm{"norm", CastPolicy::float32_result};

void require_order(double p) {
  if (std::isnan(p)) throw std::invalid_argument("[norm] p must be a number, got nan");
}

void require_wider(const Tensor& input, DType asked) {
  if (is_floating(asked) && promote_types(input.dtype(), asked) == asked) return;
  throw std::invalid_argument(fmt::format(
      "[norm] the dtype of the input ({}) should be convertible without narrowing to the "
      "specified dtype ({})",
      name_of(input.dtype()), name_of(asked)));
}

// What an element of this size adds to the sum that the norm is made of.
double share_of(double size, double p) {
  if (p == 0.0) return size == 0.0 ? 0.0 : 1.0;
  if (p == 1.0) return size;
  return p == 2.0 ? size * size : std::pow(size, p);
}

double norm_of(double sum, double p) {
  if (p == 0.0 || p == 1.0) return sum;
  return p == 2.0 ? std::sqrt(sum) : std::pow(sum, 1.0 / p);
}

bool is_done_by_kernel(const Tensor& out, const Tensor& input, DimMask folded, double p) {
  if (p != 1.0 && p != 2.0) return false;
  const CudaReduction fold(input, folded, out.numel());
  const bool is_euclidean = p == 2.0;
  const auto run = [](const functors::ReduceNorm& norm, const RowShape& rows,
                      const RowArguments& arguments) {
    return are_rows_done_on_cuda(norm, DType::float64, rows, arguments);
  };
  return reduce_on_cuda(
      input, fold, 1,
      [&] {
        return run({is_euclidean, is_euclidean, fold.whole()}, fold.whole_rows(), {{out}, {input}});
      },
      [&](const PartialResults& partials) {
        return run({is_euclidean, false, fold.in_pieces()}, fold.piece_rows(),
                   {{partials.array(0, DType::float64)}, {input}});
      },
      [&](const PartialResults& partials) {
        return run({false, is_euclidean, fold.of_partials()}, fold.partial_rows(),
                   {{out}, {partials.array(0, DType::float64)}});
      });
}

void compute_norms(const Tensor& out, const Tensor& input, DimMask folded, double p) {
  if (!out.has_values() || lacks_values(input)) return;
  if (std::isinf(p) && p > 0.0) {
    return reduce_rows_into(out, input,
                            functors::ReduceMaximum{reduced_rows_of(input, folded), false, true});
  }
  if (is_done_by_kernel(out, input, folded, p)) return;
  std::vector<double> sums(static_cast<std::size_t>(out.numel()), std::isinf(p) ? -p : 0.0);
  if (std::isinf(p)) {
    for_each_folded(input, folded, [&](std::size_t slot, double x) {
      const double size = std::abs(x);
      if (!(size >= sums[slot]) && !std::isnan(sums[slot])) sums[slot] = size;
    });
    return store_values(out, sums);
  }
  for_each_folded(input, folded,
                  [&](std::size_t slot, double x) { sums[slot] += share_of(std::abs(x), p); });
  for (double& sum : sums) sum = norm_of(sum, p);
  store_values(out, sums);
}

// grad · x / norm, where the norm is not 0.
Tensor euclidean_gradient(const Tensor& grad, const Tensor& input, const Tensor& result,
                          DType dtype) {
  if (formula::is_recorded()) {
    const Tensor direction = formula::quotient(input, result);
    const Tensor is_zero = eq(result, 0.0);
    masked_fill_(direction, is_zero, 0.0);
    return formula::product(grad, direction);
  }
  const Tensor direction = empty_for_loop(input.shape(), {&input}, {dtype, input.device()});
  map_floating(direction, direction.dtype(), functors::Quotient(), input, result);
  const Tensor is_zero =
      empty_for_loop(result.shape(), {&result}, {DType::boolean, result.device()});
  map_floating(is_zero, result.dtype(), functors::Equal(), result, 0.0);
  map_floating(direction, result.dtype(), functors::Kept{false}, direction, is_zero);
  Tensor out = empty_for_loop(input.shape(), {&grad, &direction}, options_of(direction));
  map_floating(out, direction.dtype(), functors::Product(), grad, direction);
  return out;
}

// The same as below of ops that record themselves.
Tensor recorded_largest_gradient(const Tensor& grad, const Tensor& input, const Tensor& result,
                                 DimMask folded) {
  const Tensor size = abs(input);
  Tensor mask;
  {
    const Tensor is_largest = eq(size, result);
    const Tensor is_nan = isnan(size);
    mask = logical_or(is_largest, is_nan);
  }
  const Tensor count = reduce_sum(mask, folded, true, DType::int64);
  const Tensor share = div(grad, count);
  const Tensor masked = mul(share, mask);
  const Tensor sign = signs_of(input);
  return mul(sign, masked);
}

// Shared by all elements of the largest magnitude.
Tensor largest_gradient(const Tensor& grad, const Tensor& input, const Tensor& result,
                        DimMask folded) {
  if (formula::is_recorded()) return recorded_largest_gradient(grad, input, result, folded);
  const Tensor size = map_new(input, functors::Abs());
  Tensor mask;
  {
    const Tensor is_largest = formula::compared(size, result, functors::Equal());
    const Tensor is_nan = formula::compared(size, size, functors::Unequal());
    mask = formula::compared(is_largest, is_nan, functors::Either());
  }
  const Tensor count = reduce_sum(mask, folded, true, DType::int64);
  const Tensor share = map_new(grad, count, functors::Quotient());
  const Tensor masked = empty_for_loop(input.shape(), {&input}, {share.dtype(), input.device()});
  map_floating(masked, share.dtype(), functors::Product(), share, mask);
  const Tensor sign = signs_of(input);
  return formula::product(sign, masked);
}

// |x|^exponent
Tensor powers_of_sizes(const Tensor& input, double exponent) {
  if (formula::is_recorded()) return pow(abs(input), exponent);
  const Tensor sizes = map_new(input, functors::Abs());
  map_floating(sizes, sizes.dtype(), functors::PowScalar{exponent}, sizes);
  return sizes;
}

Tensor power_of_norm(const Tensor& result, double exponent) {
  if (formula::is_recorded()) return pow(result, exponent);
  return map_new(result, functors::PowScalar{exponent});
}

// sign(x) · |x|^(p − 1) · grad · norm^(1 − p), where x is not 0.
Tensor gradient_of_roots(const Tensor& grad, const Tensor& input, const Tensor& result, double p) {
  Tensor scaled;
  {
    const Tensor power = powers_of_sizes(input, p - 1.0);
    const Tensor is_zero = eq(input, 0.0);
    masked_fill_(power, is_zero, 0.0);
    const Tensor sign = signs_of(input);
    scaled = formula::product(sign, power);
  }
  const Tensor factor = power_of_norm(result, 1.0 - p);
  const Tensor product = formula::product(scaled, grad);
  return formula::product(product, factor);
}

// sign(x) · |x|^(p − 1) · grad / norm^(p − 1), where the norm is not 0.
Tensor gradient_of_powers(const Tensor& grad, const Tensor& input, const Tensor& result, double p) {
  Tensor scaled;
  if (p < 2.0) {
    const Tensor power = powers_of_sizes(input, p - 1.0);
    const Tensor sign = signs_of(input);
    scaled = formula::product(sign, power);
  } else {
    const Tensor power = powers_of_sizes(input, p - 2.0);
    scaled = formula::product(input, power);
  }
  Tensor share;
  {
    const Tensor length = power_of_norm(result, p - 1.0);
    share = formula::quotient(grad, length);
  }
  {
    const Tensor is_zero = eq(result, 0.0);
    masked_fill_(share, is_zero, 0.0);
  }
  return formula::product(scaled, share);
}

// `is_whole`: no dimensions were named, and under create_graph the gradient stays a number.
Tensor norm_gradient(const Tensor& incoming, const Tensor& input, const Tensor& saved_result,
                     DimMask folded, bool is_whole, double p) {
  if (p == 0.0) return {};
  const bool stays_a_number = is_whole && (formula::is_recorded() || !(p == 2.0 || std::isinf(p)));
  const auto folded_back = [&](const Tensor& tensor) {
    return stays_a_number ? tensor : with_folded_dims(tensor, input.shape(), folded);
  };
  const Tensor grad = folded_back(incoming);
  const Tensor result = folded_back(saved_result);
  if (p == 2.0) return euclidean_gradient(grad, input, result, result_dtype(input, saved_result));
  if (p == 1.0) {
    const Tensor sign = signs_of(input);
    return formula::product(sign, grad);
  }
  if (std::isinf(p)) return largest_gradient(grad, input, result, folded);
  return p < 1.0 ? gradient_of_roots(grad, input, result, p)
                 : gradient_of_powers(grad, input, result, p);
}

Tensor distance_of(const Tensor& input, const Tensor& other, double p) {
  const Tensor gap = formula::difference(input, other);
  return norm(gap, p, std::nullopt, false);
}

Tensor dist(const Tensor& given, const Tensor& given_other, double p) {
  const OpFront front(kDist);
  const Tensor other = front.input(given_other);
  const Tensor input = front.input(given);
  require_alike(kDist, input, other);
  require_order(p);
  Recorder record("DistBackward", {&input, &other});
  record.save(other);
  record.save(input);
  Tensor out;
  {
    const NoGradGuard no_graph;
    out = distance_of(input, other, p);
  }
  record.save_output(out);
  record.attach_differentiable(out, [p](BackwardCall& call) {
    const Tensor x = call.saved(1);
    const Tensor y = call.saved(0);
    const Tensor result = call.saved(2);
    TensorList grads{Tensor(), Tensor()};
    if (p == 0.0) return grads;
    const auto slope_of = [&](const Tensor& gap) {
      return norm_gradient(call.grad(), gap, result, all_dims(gap.dims()), true, p);
    };
    if (call.needs(1)) {
      const Tensor gap = formula::difference(x, y);
      const Tensor slope = slope_of(gap);
      grads[1] = formula::negated(slope);
    }
    if (call.needs(0)) {
      const Tensor gap = formula::difference(x, y);
      grads[0] = slope_of(gap);
    }
    return grads;
  });
  return out;
}

}  // namespace

Tensor norm(const Tensor& input, double p, const std::optional<Shape>& dim, bool keepdim,
            std::optional<DType> asked) {
  const OpFront front(kNorm);
  require_floating(input, kNorm);
  require_order(p);
  if (asked) require_wider(input, *asked);
  const DimMask folded = folded_dims(input, dim, kNorm);
  Recorder record("NormBackward", {&input});
  record.save(input);
  const DType dtype = front.result_dtype(input, asked).value_or(input.dtype());
  Tensor out = empty(reduced_shape(input.shape(), folded, keepdim), {dtype, input.device()});
  // Where nothing is folded PyTorch takes the magnitudes of the input in the result's dtype. Its
  // kernel adds up half precision in float32, and no other dtype in a wider one.
  const bool is_read_as_it_is =
      dtype == input.dtype() || (dtype == DType::float32 && out.numel() != input.numel());
  const Tensor widened = is_read_as_it_is ? input : cast(input, dtype);
  const ReductionScratch scratch(input, folded);
  compute_norms(out, input, folded, p);
  record.save_output(out);
  const bool is_whole = !dim || dim->empty();
  record.attach_differentiable(out, [folded, is_whole, p](BackwardCall& call) {
    return TensorList{
        norm_gradient(call.grad(), call.saved(0), call.saved(1), folded, is_whole, p)};
  });
  return out;
}

void norm_into(const Tensor& out, const Tensor& input, double p) {
  require_order(p);
  compute_norms(out, input, all_dims(input.dims()), p);
}

std::vector<OpDef> norm_ops() {
  using NormOverDims =
      Tensor (*)(const Tensor&, double, const std::optional<Shape>&, bool, std::optional<DType>);
  return {define(kNorm, kPythonFunction | kMethod, static_cast<NormOverDims>(&norm),
                 {"input", {"p", 2.0}, "dim", {"keepdim", false}, "dtype"}),
          define(kDist, kFunction | kMethod, &dist, {"input", "other", {"p", 2.0}})};
}

}  // namespace ohm::ops
