#include "runtime/ops/correlations.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/clamp.h"
#include "runtime/ops/comparison.h"
#include "runtime/ops/inplace_binary.h"
#include "runtime/ops/matmul.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise_unary.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/slice.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kCov{"cov"};
constexpr OpInfo kCorrcoef{"corrcoef"};

void require_weights(std::string_view name, const std::optional<Tensor>& weights,
                     std::int64_t observations) {
  if (!weights || (weights->dims() == 1 && weights->size(0) == observations)) return;
  throw std::invalid_argument(
      fmt::format("[cov] expected {} to have one element for each of {} observations, got {}", name,
                  observations, weights->shape().str()));
}

/// What each observation counts: the product of its weights; undefined where all count the same.
Tensor joined_weights(const std::optional<Tensor>& fweights,
                      const std::optional<Tensor>& aweights) {
  if (!fweights) return aweights.value_or(Tensor());
  return aweights ? mul(*fweights, *aweights) : *fweights;
}

Tensor weighed(const Tensor& observations, const Tensor& weights) {
  return weights.defined() ? mul(observations, weights) : observations;
}

// The host's question whether a number is true, which PyTorch compares with another: false where
// the device has no values. What is known already is not fetched.
bool is_true(const Tensor& answer, std::optional<bool> known = std::nullopt) {
  const Tensor ones = ones_like(answer);
  const Tensor is_same = eq(answer, ones);
  const Tensor are_all = all(is_same);
  if (known) return *known;
  return are_all.has_values() && to_doubles(are_all)[0] != 0.0;
}

// What the sums of products are divided by; 0 where the correction leaves nothing.
Tensor degrees_of_freedom(const Tensor& weights, const Tensor& total, std::int64_t correction,
                          const std::optional<Tensor>& aweights, std::int64_t observations) {
  Tensor degrees;
  if (aweights && correction != 0) {
    const Tensor sum_of_squares = sum(mul(weights, *aweights));
    const Tensor corrected = mul(sum_of_squares, correction);
    degrees = sub(total, div(corrected, total));
  } else {
    degrees = sub(total, correction);
  }
  const bool counts_alike = !weights.defined();
  const std::optional<bool> known =
      counts_alike ? std::optional(observations <= correction) : std::nullopt;
  if (is_true(le(degrees, 0.0), known)) degrees = zero_(degrees);
  return degrees;
}

Tensor drawn(const Shape& shape) { return randn(shape, {DType::float64, Device::cpu()}); }

}  // namespace

Tensor cov(const Tensor& input, std::int64_t correction, const std::optional<Tensor>& fweights,
           const std::optional<Tensor>& aweights) {
  const OpFront front(kCov);
  if (input.dims() > 2) {
    throw std::invalid_argument(
        fmt::format("[cov] expected up to two dimensions, got {}", input.shape().str()));
  }
  Tensor observations = input.dims() < 2 ? view(input, {1, -1}) : input;
  const std::int64_t count = observations.size(1);
  require_weights("fweights", fweights, count);
  require_weights("aweights", aweights, count);
  const Tensor weights = joined_weights(fweights, aweights);
  const Tensor total = weights.defined()
                           ? sum(weights)
                           : full({}, static_cast<double>(count), {DType::int64, input.device()});
  if (weights.defined()) is_true(ne(total, 0.0));
  Tensor average;
  {
    const Tensor sums = sum(weighed(observations, weights), Shape{1}, false, std::nullopt);
    average = div(sums, total);
  }
  const Tensor degrees = degrees_of_freedom(weights, total, correction, aweights, count);
  observations = sub(observations, unsqueeze(average, 1));
  const Tensor products = mm(observations, t(weighed(observations, weights)));
  return squeeze(div(products, degrees), std::nullopt);
}

Tensor corrcoef(const Tensor& input) {
  const OpFront front(kCorrcoef);
  Tensor covariances = cov(input, 1, std::nullopt, std::nullopt);
  if (covariances.dims() == 0) return div(covariances, covariances);
  const Tensor variances = diagonal(covariances, 0, 0, 1);
  const Tensor deviations = sqrt(variances);
  covariances = div(covariances, view(deviations, {-1, 1}));
  covariances = div(covariances, view(deviations, {1, -1}));
  return clamp(covariances, -1.0, 1.0);
}

std::vector<OpDef> correlation_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kCov, kBoth, &cov,
             {"input",
              {"correction", std::int64_t{1}},
              ParamName::constant("fweights"),
              ParamName::constant("aweights")},
             [] {
               return std::vector<Sample>{{drawn({3, 5})}, {drawn({4})}};
             }),
      define(kCorrcoef, kBoth, &corrcoef, {"input"},
             [] {
               return std::vector<Sample>{{drawn({3, 5})}};
             }),
  };
}

}  // namespace ohm::ops
