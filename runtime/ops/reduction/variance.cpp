#include "runtime/ops/reduction/variance.h"

#include <limits>

#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/reduction_scratch.h"
#include "runtime/base/refusal.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/kernels/launch/reduce_rows.h"
#include "runtime/ops/indexing/indexing.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/formula.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/reduction/reduction_kernel.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kVar{"var"};
constexpr OpInfo kStd{"std"};
constexpr OpInfo kVarMean{"var_mean"};
constexpr OpInfo kStdMean{"std_mean"};

struct Spread {
  DimMask folded;
  bool is_whole;  ///< no dimensions were named
  double correction;
};

Spread spread_of(const OpInfo& info, const Tensor& input, const std::optional<Shape>& dim,
                 double correction) {
  const bool is_whole = !dim || dim->empty() || input.dims() == 0;
  return {folded_dims(input, dim, info), is_whole, correction};
}

double divisor_of(const Shape& shape, const Spread& spread) {
  double count = 1.0;
  for (int dim = 0; dim < shape.dims(); ++dim) {
    if (contains(spread.folded, dim)) count *= static_cast<double>(shape[dim]);
  }
  return count - spread.correction;
}

// Pre-condition: `out` has the shape of the result.
void compute_into(const Tensor& out, const Tensor& input, const Spread& spread, bool takes_root) {
  // A partial result is a mean, a sum of squares and two counts.
  const std::size_t accumulator_bytes = input.dtype() == DType::float64 ? 32 : 16;
  const ReductionScratch scratch(input, spread.folded, {accumulator_bytes, false});
  if (!out.has_values() || lacks_values(input)) return;
  reduce_rows_into(out, input,
                   functors::ReduceVariance{reduced_rows_of(input, spread.folded),
                                            spread.correction, takes_root});
}

Tensor compute(const Tensor& input, const Spread& spread, bool keepdim, bool takes_root) {
  Tensor out = empty(reduced_shape(input.shape(), spread.folded, keepdim), options_of(input));
  compute_into(out, input, spread, takes_root);
  return out;
}

// 2 / (n − correction) is infinite: no number where x is its mean, and infinity elsewhere.
Tensor unbounded_gradient(const Tensor& grad, const Tensor& input, const Tensor& mean) {
  const TensorOptions numbers{DType::float32, input.device()};
  const Tensor is_mean =
      empty_for_loop(input.shape(), {&input, &mean}, {DType::boolean, input.device()});
  map_elements(is_mean, input.dtype(), functors::Equal(), input, mean);
  Tensor chosen;
  {
    const Tensor no_number = full({}, std::numeric_limits<double>::quiet_NaN(), numbers);
    const Tensor infinity = full({}, std::numeric_limits<double>::infinity(), numbers);
    chosen = empty_for_loop(is_mean.shape(), {&is_mean}, numbers);
    map_elements(chosen, chosen.dtype(), functors::Where(), is_mean, no_number, infinity);
  }
  return mul(grad, chosen);
}

Shape dims_in(DimMask mask, int dims) {
  Shape result;
  for (int dim = 0; dim < dims; ++dim) {
    if (contains(mask, dim)) result.push_back(dim);
  }
  return result;
}

// The same of ops that record themselves. Where no dimensions were named the gradient stays a
// number.
Tensor recorded_var_gradient(const Tensor& given, const Tensor& input, const Spread& spread) {
  const Tensor grad =
      spread.is_whole ? given : with_folded_dims(given, input.shape(), spread.folded);
  const Tensor mean = spread.is_whole
                          ? ops::mean(input)
                          : ops::mean(input, dims_in(spread.folded, input.dims()), true);
  if (spread.is_whole && divisor_of(input.shape(), spread) <= 0) {
    return unbounded_gradient(grad, input, mean);
  }
  const Tensor centered = sub(input, mean);
  const Tensor scaled = mul(grad, 2.0 / divisor_of(input.shape(), spread));
  return mul(scaled, centered);
}

// 2 / (n − correction) · grad · (x − mean), its factors made from right to left as a C++ compiler
// evaluates them.
Tensor var_gradient(const Tensor& given, const Tensor& input, const Spread& spread) {
  if (formula::is_recorded()) return recorded_var_gradient(given, input, spread);
  const Tensor grad = with_folded_dims(given, input.shape(), spread.folded);
  const double count = divisor_of(input.shape(), spread) + spread.correction;
  const Tensor mean = reduce_sum(input, spread.folded, !spread.is_whole, input.dtype());
  map_floating(mean, mean.dtype(), functors::Divided{count}, mean);
  if (spread.is_whole && divisor_of(input.shape(), spread) <= 0) {
    return unbounded_gradient(given, input, mean);
  }
  const double factor = 2.0 / divisor_of(input.shape(), spread);
  const Tensor centered = map_new(input, mean, functors::Difference());
  const Tensor scaled = map_new(grad, functors::Scaled{factor});
  return formula::product(scaled, centered);
}

Tensor std_gradient(const Tensor& grad, const Tensor& input, const Tensor& result,
                    const Spread& spread) {
  Tensor var_grad;
  if (formula::is_recorded()) {
    const Tensor twice = mul(result, 2.0);
    var_grad = div(grad, twice);
    masked_fill_(var_grad, eq(result, 0.0), 0.0);
  } else {
    const Tensor twice = map_new(result, functors::Scaled{2.0});
    var_grad = map_new(grad, twice, functors::Quotient());
    const Tensor is_zero =
        empty_for_loop(result.shape(), {&result}, {DType::boolean, result.device()});
    map_floating(var_grad, result.dtype(), functors::Kept{true}, var_grad, result);
  }
  return var_gradient(var_grad, input, spread);
}

// ---- with the mean ------------------------------------------------------------------------------

// The gradient of a mean over the same dimensions.
Tensor mean_part(const Tensor& grad, const Tensor& input, const Spread& spread) {
  const double count = divisor_of(input.shape(), spread) + spread.correction;
  const Tensor whole = expanded_over(grad, input.shape(), spread.folded);
  return formula::is_recorded() ? div(whole, count) : map_new(whole, functors::Divided{count});
}

// Of both results, where a gradient came for both.
Tensor spread_and_mean_gradient(const BackwardCall& call, const Tensor& input,
                                const Tensor& deviation, const Spread& spread) {
  Tensor total;
  if (call.grad(0).defined()) {
    total = deviation.defined() ? std_gradient(call.grad(0), input, deviation, spread)
                                : var_gradient(call.grad(0), input, spread);
  }
  if (!call.grad(1).defined()) return total;
  const Tensor of_mean = mean_part(call.grad(1), input, spread);
  if (!total.defined()) return of_mean;
  total = formula::sum(total, of_mean);
  return total;
}

std::vector<Tensor> spread_and_mean(const OpInfo& info, std::string_view node, const Tensor& input,
                                    const Spread& spread, bool keepdim, bool takes_root) {
  const OpFront front(info);
  const Shape shape = reduced_shape(input.shape(), spread.folded, keepdim);
  Recorder record(node, {&input});
  record.save(input);
  const std::vector<Tensor> out = {empty(shape, options_of(input)),
                                   empty(shape, options_of(input))};
  compute_into(out[0], input, spread, takes_root);
  if (out[1].has_values() && !lacks_values(input)) {
    const double count = divisor_of(input.shape(), spread) + spread.correction;
    sum_without_scratch(out[1], input, spread.folded, 1.0 / count);
  }
  if (takes_root) record.save_output(out[0]);
  record.attach_differentiable(out, [spread, takes_root](BackwardCall& call) {
    const Tensor deviation = takes_root ? call.saved(1) : Tensor();
    return TensorList{spread_and_mean_gradient(call, call.saved(0), deviation, spread)};
  });
  return out;
}

template <bool TakesRoot>
std::vector<Tensor> spread_and_mean_row(const Tensor& input, const std::optional<Shape>& dim,
                                        std::optional<bool> unbiased, bool keepdim,
                                        std::optional<double> correction) {
  if (unbiased && correction) {
    refuse("expected one of unbiased and correction, not both");
  }
  const OpInfo& info = TakesRoot ? kStdMean : kVarMean;
  require_floating(input, info);
  const double subtracted = correction.value_or(unbiased.value_or(true) ? 1.0 : 0.0);
  return spread_and_mean(info, TakesRoot ? "StdMeanBackward" : "VarMeanBackward", input,
                         spread_of(info, input, dim, subtracted), keepdim, TakesRoot);
}

using SpreadOf = Tensor (*)(const Tensor&, const std::optional<Shape>&, double, bool);

// PyTorch's two ways to say what is subtracted from the count.
template <SpreadOf F>
Tensor spread_row(const Tensor& input, const std::optional<Shape>& dim,
                  std::optional<bool> unbiased, bool keepdim, std::optional<double> correction) {
  if (unbiased && correction) {
    refuse("expected one of unbiased and correction, not both");
  }
  return F(input, dim, correction.value_or(unbiased.value_or(true) ? 1.0 : 0.0), keepdim);
}

}  // namespace

Tensor var(const Tensor& input, const std::optional<Shape>& dim, double correction, bool keepdim) {
  const OpFront front(kVar);
  require_floating(input, kVar);
  const Spread spread = spread_of(kVar, input, dim, correction);
  Recorder record("VarBackward", {&input});
  record.save(input);
  Tensor out = compute(input, spread, keepdim, false);
  record.attach_differentiable(out, [spread](BackwardCall& call) {
    return TensorList{var_gradient(call.grad(), call.saved(0), spread)};
  });
  return out;
}

Tensor std_deviation(const Tensor& input, const std::optional<Shape>& dim, double correction,
                     bool keepdim) {
  const OpFront front(kStd);
  require_floating(input, kStd);
  const Spread spread = spread_of(kStd, input, dim, correction);
  Recorder record("StdBackward", {&input});
  record.save(input);
  Tensor out = compute(input, spread, keepdim, true);
  record.save_output(out);
  record.attach_differentiable(out, [spread](BackwardCall& call) {
    return TensorList{std_gradient(call.grad(), call.saved(0), call.saved(1), spread)};
  });
  return out;
}

std::vector<OpDef> variance_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const std::vector<ParamName> params = {
      "input", "dim", "unbiased", {"keepdim", false}, "correction"};
  return {
      define(kVar, kBoth, &spread_row<&var>, params),
      define(kStd, kBoth, &spread_row<&std_deviation>, params),
      define(kVarMean, kFunction, &spread_and_mean_row<false>, params),
      define(kStdMean, kFunction, &spread_and_mean_row<true>, params),
  };
}

}  // namespace ohm::ops
