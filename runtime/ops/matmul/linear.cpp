#include "runtime/ops/matmul/linear.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/ops/matmul/matmul.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kLinear{"linear", CastPolicy::low_precision};

}  // namespace

Tensor linear(const Tensor& given, const Tensor& given_weight,
              const std::optional<Tensor>& given_bias) {
  const OpFront front(kLinear);
  const std::optional<Tensor> bias = front.input(given_bias);
  const Tensor weight = front.input(given_weight);
  const Tensor input = front.input(given);
  if (weight.dims() != 2 || input.dims() == 0 || input.size(-1) != weight.size(1)) {
    throw std::invalid_argument(fmt::format(
        "[linear] input of shape {} does not fit a weight of shape {}: its last "
        "dimension must be {}",
        input.shape().str(), weight.shape().str(), weight.dims() == 2 ? weight.size(1) : 0));
  }
  if (!bias) return matmul(input, t(weight));
  if (input.dims() == 2) return addmm(*bias, input, t(weight));
  // Rows that would have to be copied to lie in one matrix go another way than the fused one.
  if (!input.is_contiguous()) return add_(matmul(input, t(weight)), *bias);
  Shape sizes = input.shape();
  sizes[sizes.dims() - 1] = weight.size(0);
  const Tensor rows = reshape(input, {-1, input.size(-1)});
  const Tensor product = addmm(*bias, rows, t(weight));
  return Context::current().rules.linear_results_are_no_views ? unsafe_view(product, sizes)
                                                              : view(product, sizes);
}

std::vector<OpDef> linear_ops() {
  return {define(kLinear, kCppFunctional, &linear, {"input", "weight", "bias"})};
}

}  // namespace ohm::ops
