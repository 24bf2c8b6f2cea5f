#include "runtime/ops/quantile.h"

#include <fmt/core.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/base/dim_mask.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/comparison.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/indexing.h"
#include "runtime/ops/lerp.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/sorting.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kQuantile{"quantile"};
constexpr OpInfo kNanquantile{"nanquantile"};

enum class Interpolation : std::uint8_t { linear, lower, higher, midpoint, nearest };

Interpolation interpolation_of(const OpInfo& info, const std::string& name) {
  if (name == "linear") return Interpolation::linear;
  if (name == "lower") return Interpolation::lower;
  if (name == "higher") return Interpolation::higher;
  if (name == "midpoint") return Interpolation::midpoint;
  if (name == "nearest") return Interpolation::nearest;
  throw std::invalid_argument(
      fmt::format("[{}] interpolation must be one of linear, lower, higher, midpoint or nearest, "
                  "got {}",
                  info.name, name));
}

/// One call, without its input and share.
struct QuantilePlan {
  std::optional<int> dim;  ///< all elements without
  bool keeps_dim = false;
  Interpolation interpolation = Interpolation::linear;
  bool ignores_nan = false;

  bool interpolates() const {
    return interpolation == Interpolation::linear || interpolation == Interpolation::midpoint;
  }
};

// ---- what is asked ------------------------------------------------------------------------------

constexpr std::int64_t kMostElements = std::int64_t{1} << 24;

void require_quantile_input(const OpInfo& info, const Tensor& input, const QuantilePlan& plan) {
  if (input.dtype() != DType::float32 && input.dtype() != DType::float64) {
    throw std::invalid_argument(
        fmt::format("[{}] input tensor must be either float or double, got "
                    "{}",
                    info.name, name_of(input.dtype())));
  }
  const std::int64_t size =
      !plan.dim || input.dims() == 0 ? input.numel() : input.shape()[*plan.dim];
  if (input.numel() == 0 || size > kMostElements) {
    throw std::invalid_argument(fmt::format("[{}] input tensor must have 1 to {} elements, got {}",
                                            info.name, kMostElements, input.shape().str()));
  }
}

Tensor share_of(const OpInfo& info, const Tensor& input, const TensorOrNumber& q) {
  if (is_number(q)) {
    const double share = number_of(q);
    if (share >= 0.0 && share <= 1.0) return full({}, share, options_of(input));
    throw std::invalid_argument(
        fmt::format("[{}] q must be in the range [0, 1], got {}", info.name, share));
  }
  const Tensor& shares = tensor_of(q);
  if (shares.dims() <= 1 && shares.numel() > 0 && shares.dtype() == input.dtype() &&
      shares.device() == input.device() && !shares.requires_grad()) {
    return shares;
  }
  throw std::invalid_argument(
      fmt::format("[{}] q must be a number or a vector of the input's dtype, on its device and "
                  "without a gradient, got {}",
                  info.name, describe(shares)));
}

// The shape of the result for one share.
Shape shape_of_one(const Tensor& input, const QuantilePlan& plan) {
  if (plan.dim && input.dims() > 0) {
    return reduced_shape(input.shape(), with(0, *plan.dim), plan.keeps_dim);
  }
  Shape shape;
  for (int dim = 0; plan.keeps_dim && dim < input.dims(); ++dim) shape.push_back(1);
  return shape;
}

// The elements of each result as a row.
Tensor in_rows(const Tensor& input, const QuantilePlan& plan) {
  if (!plan.dim) return flatten(input, 0, -1);
  if (input.dims() == 0 || *plan.dim == input.dims() - 1) return input;
  return transpose(unsqueeze(input, -1), *plan.dim, -1);
}

Tensor sorted_rows(const Tensor& rows) { return sort(rows, -1, false).first; }

// ---- ranks --------------------------------------------------------------------------------------

// Later versions compute them in double, and before they sort.
bool ranks_in_double() { return Context::current().rules.quantiles_rank_in_double; }

Tensor times_share(const Tensor& q, const TensorOrNumber& last) {
  if (!ranks_in_double()) return mul(q, last);
  const Tensor share = to_dtype(q, DType::float64);
  return mul(share, last);
}

// In a row without numbers the first rank stands for them.
Tensor ranks_among_numbers(const Tensor& q, const Tensor& rows) {
  Tensor ranks;
  {
    const Tensor are_numbers = isnan(rows);
    map_elements(are_numbers, DType::boolean, functors::Equal(), are_numbers, 0.0);
    const Tensor count = sum(are_numbers, Shape{-1}, true, std::nullopt);
    const Tensor last = sub(count, Number(1));
    ranks = times_share(q, last);
  }
  const Tensor is_empty = lt(ranks, 0.0);
  masked_fill_(ranks, is_empty, 0.0);
  return ranks;
}

// In a row with a NaN the last rank stands for it: a sort puts it there.
Tensor ranks_among_all(const Tensor& q, const Tensor& rows) {
  const std::int64_t last = rows.size(-1) - 1;
  Tensor scaled;
  Tensor has_nan;
  {
    const Tensor share = ranks_in_double() ? to_dtype(q, DType::float64) : q;
    scaled = mul(share, Number(last));
    const Tensor nans = isnan(rows);
    has_nan = any(nans, Shape{-1}, true);
  }
  const Shape shape = broadcast_shapes(scaled.shape(), has_nan.shape(), "quantile");
  Tensor ranks = masked_fill(broadcast_view(scaled, shape), broadcast_view(has_nan, shape),
                             static_cast<double>(last));
  scaled = Tensor();
  return ranks;
}

void round_ranks(const Tensor& ranks, Interpolation interpolation) {
  if (interpolation == Interpolation::lower) {
    map_floating(ranks, ranks.dtype(), functors::Floor(), ranks);
  } else if (interpolation == Interpolation::higher) {
    map_floating(ranks, ranks.dtype(), functors::Ceil(), ranks);
  } else if (interpolation == Interpolation::nearest) {
    map_floating(ranks, ranks.dtype(), functors::Round(), ranks);
  }
}

// How far each rank is from the one below it to the one above.
Tensor weights_of(const Tensor& ranks, const Tensor& below, DType dtype,
                  Interpolation interpolation) {
  if (interpolation == Interpolation::midpoint) {
    return full(ranks.shape(), 0.5, {dtype, ranks.device()});
  }
  const Tensor weights = sub(ranks, below);
  return to_dtype(weights, dtype);
}

Tensor ranks_above(const Tensor& ranks) {
  map_floating(ranks, ranks.dtype(), functors::Ceil(), ranks);
  return to_dtype(ranks, DType::int64);
}

// ---- elements -----------------------------------------------------------------------------------

// Sorts before it ranks.
Tensor quantiles_of_sorted(const Tensor& q, const Tensor& sorted, const QuantilePlan& plan) {
  const Tensor ranks =
      plan.ignores_nan ? ranks_among_numbers(q, sorted) : ranks_among_all(q, sorted);
  round_ranks(ranks, plan.interpolation);
  const Tensor below = to_dtype(ranks, DType::int64);
  Tensor values = gather(sorted, -1, below);
  if (!plan.interpolates()) return values;
  const Tensor weights = weights_of(ranks, below, values.dtype(), plan.interpolation);
  const Tensor above = ranks_above(ranks);
  const Tensor upper = gather(sorted, -1, above);
  lerp_(values, upper, weights);
  return values;
}

// Ranks before it sorts.
Tensor quantiles_of_ranks(const Tensor& q, const Tensor& rows, const QuantilePlan& plan) {
  const Tensor ranks = plan.ignores_nan ? ranks_among_numbers(q, rows) : ranks_among_all(q, rows);
  round_ranks(ranks, plan.interpolation);
  const Tensor below = to_dtype(ranks, DType::int64);
  if (!plan.interpolates()) {
    const Tensor sorted = sorted_rows(rows);
    return gather(sorted, -1, below);
  }
  const Tensor weights = weights_of(ranks, below, rows.dtype(), plan.interpolation);
  const Tensor above = ranks_above(ranks);
  Tensor upper;
  const Tensor sorted = sorted_rows(rows);
  Tensor values = gather(sorted, -1, below);
  upper = gather(sorted, -1, above);
  lerp_(values, upper, weights);
  return values;
}

// The shares in front, in place of the last dimension.
Tensor with_shares_first(const Tensor& values, const Tensor& q, const Shape& shape) {
  if (q.dims() == 0) return unsafe_view(values, shape);
  return squeeze(transpose(unsqueeze(values, 0), 0, -1), -1);
}

Tensor quantile_with(const OpInfo& info, const Tensor& input, const TensorOrNumber& given_q,
                     const QuantilePlan& plan) {
  const OpFront front(info);
  require_quantile_input(info, input, plan);
  const Tensor q = share_of(info, input, given_q);
  const Shape shape = shape_of_one(input, plan);
  Tensor rows = in_rows(input, plan);
  if (!ranks_in_double()) rows = sorted_rows(rows);
  Shape row_shape = shape;
  row_shape.push_back(input.dims() == 0 ? 1 : rows.size(-1));
  rows = view(rows, row_shape);
  Tensor values =
      ranks_in_double() ? quantiles_of_ranks(q, rows, plan) : quantiles_of_sorted(q, rows, plan);
  rows = Tensor();
  return with_shares_first(values, q, shape);
}

QuantilePlan plan_of(const OpInfo& info, const Tensor& input, std::optional<std::int64_t> dim,
                     bool keepdim, const std::string& interpolation) {
  QuantilePlan plan{std::nullopt, keepdim, interpolation_of(info, interpolation), false};
  if (dim) plan.dim = wrap_dim(*dim, input.dims(), info.name.data());
  return plan;
}

Tensor quantile(const Tensor& input, const TensorOrNumber& q, std::optional<std::int64_t> dim,
                bool keepdim, const std::string& interpolation) {
  return quantile_with(kQuantile, input, q, plan_of(kQuantile, input, dim, keepdim, interpolation));
}

Tensor nanquantile(const Tensor& input, const TensorOrNumber& q, std::optional<std::int64_t> dim,
                   bool keepdim, const std::string& interpolation) {
  QuantilePlan plan = plan_of(kNanquantile, input, dim, keepdim, interpolation);
  plan.ignores_nan = true;
  return quantile_with(kNanquantile, input, q, plan);
}

std::vector<Sample> quantile_samples() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {{randn({3, 4}, options), 0.3},
          {randn({3, 4}, options), 0.6, std::int64_t{0}, true},
          {randn({3, 4}, options), 0.6, std::int64_t{1}, false, std::string("midpoint")},
          {randn({2, 3, 4}, options), 0.6, std::int64_t{1}, false, std::string("nearest")}};
}

}  // namespace

std::vector<OpDef> quantile_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName q = ParamName::constant("q");
  const ParamName keepdim{"keepdim", false};
  const ParamName interpolation{"interpolation", std::string("linear")};
  return {
      define(kQuantile, kBoth, &quantile, {"input", q, "dim", keepdim, interpolation},
             quantile_samples),
      define(kNanquantile, kBoth, &nanquantile, {"input", q, "dim", keepdim, interpolation},
             quantile_samples),
  };
}

}  // namespace ohm::ops
