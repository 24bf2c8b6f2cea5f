#include "runtime/ops/loss/loss_composed.h"

#include <fmt/core.h>

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/lifetimes/lifetimes.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/clamp.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/inplace_unary.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kCosineEmbedding{"cosine_embedding_loss", CastPolicy::float32};
constexpr OpInfo kGaussianNll{"gaussian_nll_loss"};

Tensor reduced_by_ops(const Tensor& losses, Reduction reduction) {
  if (reduction == Reduction::none) return losses;
  return reduction == Reduction::mean ? mean(losses) : sum(losses);
}

// The sum of the squares along `dim`, and a little.
Tensor squared_length(const Tensor& vectors, std::int64_t dim) {
  const Tensor squares = mul(vectors, vectors);
  const Tensor total = sum(squares, Shape{dim}, false, std::nullopt);
  return add(total, 1e-12);
}

void require_vectors(const Tensor& input1, const Tensor& input2, const Tensor& target) {
  const bool fits = target.dims() <= 1 && input1.dims() == target.dims() + 1 &&
                    input2.dims() == target.dims() + 1;
  if (fits) return;
  throw std::invalid_argument(fmt::format(
      "[cosine_embedding_loss] expected [N, D], [N, D] and [N], or [D], [D] and a number, but got "
      "{}, {} and {}",
      input1.shape().str(), input2.shape().str(), target.shape().str()));
}

// A variance of the input's shape, or of one number for its last dimension.
Tensor fitting_variance(const Tensor& var, const Shape& shape) {
  if (var.shape() == shape) return var;
  Shape rows = shape;
  if (!rows.empty()) rows.erase(rows.dims() - 1);
  if (var.shape() == rows) return unsqueeze(var, -1);
  Shape ones = rows;
  ones.push_back(1);
  if (var.shape() == ones) return var;
  throw std::invalid_argument(
      fmt::format("[gaussian_nll_loss] var is of incorrect size: {} for an input of {}",
                  var.shape().str(), shape.str()));
}

void forbid_negative(const Tensor& var) {
  Tensor is_negative;
  {
    const Tensor are_negative = lt(var, 0.0);
    is_negative = any(are_negative);
  }
  if (is_negative.has_values() && is_negative.item() != 0.0) {
    throw std::invalid_argument("[gaussian_nll_loss] var has negative entry/entries");
  }
}

// Half of log var + (input - target)² / var.
Tensor gaussian_losses(const Tensor& input, const Tensor& target, const Tensor& var) {
  Tensor logarithm = log(var);
  Tensor quotient;
  {
    Tensor square;
    {
      const Tensor gap = sub(input, target);
      square = pow(gap, 2.0);
    }
    quotient = div(square, var);
  }
  const Tensor total = add(logarithm, quotient);
  logarithm = Tensor();
  quotient = Tensor();
  return mul(total, 0.5);
}

}  // namespace

Tensor cosine_embedding_loss(const Tensor& given1, const Tensor& given2, const Tensor& given_target,
                             double margin, Reduction reduction) {
  const OpFront front(kCosineEmbedding);
  const Tensor target = front.input(given_target);
  const Tensor input2 = front.input(given2);
  const Tensor input1 = front.input(given1);
  require_same_device(input1, target, kCosineEmbedding);
  require_vectors(input1, input2, target);
  const std::int64_t dim = target.dims();
  Tensor product;
  {
    const Tensor products = mul(input1, input2);
    product = sum(products, Shape{dim}, false, std::nullopt);
  }
  const Tensor length1 = squared_length(input1, dim);
  const Tensor length2 = squared_length(input2, dim);
  const Tensor squared = mul(length1, length2);
  const Tensor denominator = sqrt_(squared);
  const Tensor cosine = div(product, denominator);
  const Tensor zero = zeros(cosine.shape(), options_of(cosine));
  const Tensor apart = rsub(cosine, 1.0);
  const Tensor beyond = sub(cosine, margin);
  clamp_(beyond, 0.0, std::nullopt);
  const Tensor of_alike = where(eq(target, 1.0), apart, zero);
  const Tensor of_unlike = where(eq(target, -1.0), beyond, zero);
  const Tensor losses = add(of_alike, of_unlike);
  return reduced_by_ops(losses, reduction);
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& given_var,
                         bool full, double eps, Reduction reduction) {
  const OpFront front(kGaussianNll);
  forbid_negative(given_var);
  Tensor var = clone(fitting_variance(given_var, input.shape()));
  {
    const NoGradGuard no_graph;
    clamp_(var, eps, std::nullopt);
  }
  Tensor losses = gaussian_losses(input, target, var);
  if (full) add_(losses, 0.5 * std::log(2 * std::numbers::pi));
  Tensor out = reduced_by_ops(losses, reduction);
  outlive_arguments(std::move(var));
  outlive_arguments(std::move(losses));
  return out;
}

std::vector<OpDef> composed_loss_ops() {
  const ParamName reduction{"reduction", std::string("mean")};
  return {
      define(kCosineEmbedding, kFunction | kFunctional, &cosine_embedding_loss,
             {"input1", "input2", ParamName::constant("target"), {"margin", 0.0}, reduction}),
      define(kGaussianNll, kFunctional, &gaussian_nll_loss,
             {"input", "target", "var", {"full", false}, {"eps", 1e-6}, reduction}),
  };
}

}  // namespace ohm::ops
