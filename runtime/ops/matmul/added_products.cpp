#include "runtime/ops/matmul/added_products.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/ops/matmul/matrix_product.h"
#include "runtime/ops/matmul/product_gradients.h"
#include "runtime/ops/matmul/product_operands.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kAddmmInplace{"addmm_"};
constexpr OpInfo kBaddbmmInplace{"baddbmm_"};
constexpr OpInfo kAddbmm{"addbmm", CastPolicy::low_precision};
constexpr OpInfo kAddbmmInplace{"addbmm_"};

void require_factors(const OpInfo& info, const Tensor& input, const Tensor& left,
                     const Tensor& right, int dims) {
  require_alike(info, left, right);
  require_alike(info, input, left);
  require_floating(input, info);
  const bool fits = left.dims() == dims && right.dims() == dims &&
                    left.size(-1) == right.size(-2) && (dims == 2 || left.size(0) == right.size(0));
  if (!fits) {
    throw std::invalid_argument(fmt::format("[{}] shapes cannot be multiplied: {} x {}", info.name,
                                            left.shape().str(), right.shape().str()));
  }
}

void scale_all(const Tensor& out, double factor) {
  if (factor == 0.0) return fill_values(out, 0.0);
  map_floating(out, out.dtype(), functors::Product(), out, factor);
}

// The products of a batch, one after the other.
void add_each_product(const Tensor& out, const Tensor& left, const Tensor& right,
                      const ProductScales& scales) {
  const NoGradGuard no_graph;
  if (left.size(0) == 0) return scale_all(out, scales.beta);
  double beta = scales.beta;
  for (std::int64_t sample = 0; sample < left.size(0); ++sample) {
    multiply_onto(out, select(left, 0, sample), select(right, 0, sample), beta, scales.alpha);
    beta = 1.0;
  }
}

Tensor addmm_(const Tensor& input, const Tensor& left, const Tensor& right, double beta,
              double alpha) {
  const OpFront front(kAddmmInplace);
  Recorder record =
      Recorder::overwriting(kAddmmInplace.name, "AddmmBackward", {&input, &left, &right});
  require_factors(kAddmmInplace, input, left, right, 2);
  require_result_shape(kAddmmInplace, input, {left.size(0), right.size(1)});
  save_factors(record, left, right);
  begin_inplace_write(input, kAddmmInplace.name);
  multiply_onto(input, left, right, beta, alpha);
  record.attach_differentiable(
      input, [a = MatrixLayout(left), b = MatrixLayout(right), scales = ProductScales{beta, alpha}](
                 BackwardCall& call) { return addmm_gradients(call, a, b, scales); });
  return input;
}

Tensor baddbmm_(const Tensor& input, const Tensor& left, const Tensor& right, double beta,
                double alpha) {
  const OpFront front(kBaddbmmInplace);
  Recorder record =
      Recorder::overwriting(kBaddbmmInplace.name, "BaddbmmBackward", {&input, &left, &right});
  require_factors(kBaddbmmInplace, input, left, right, 3);
  require_result_shape(kBaddbmmInplace, input, {left.size(0), left.size(1), right.size(2)});
  save_factors(record, left, right);
  begin_inplace_write(input, kBaddbmmInplace.name);
  multiply_onto(input, left, right, beta, alpha);
  record.attach_differentiable(
      input, [shape = input.shape(), scales = ProductScales{beta, alpha}](BackwardCall& call) {
        return baddbmm_gradients(call, shape, scales);
      });
  return input;
}

auto addbmm_gradient(const Tensor& left, const Tensor& right, const ProductScales& scales) {
  return [left = left.shape(), right = right.shape(), scales](BackwardCall& call) {
    return addbmm_gradients(call, left, right, scales);
  };
}

Tensor addbmm(const Tensor& given, const Tensor& given_left, const Tensor& given_right, double beta,
              double alpha) {
  const OpFront front(kAddbmm);
  const Tensor right = front.input(given_right);
  const Tensor left = front.input(given_left);
  const Tensor input = front.input(given);
  require_factors(kAddbmm, input, left, right, 3);
  const Shape shape{left.size(1), right.size(2)};
  if (!(broadcast_shapes(input.shape(), shape, kAddbmm.name.data()) == shape)) {
    require_result_shape(kAddbmm, input, shape);
  }
  Recorder record("AddbmmBackward", {&input, &left, &right});
  save_factors(record, left, right);
  Tensor out = empty(shape, options_of(input));
  if (beta == 0.0) {
    fill_values(out, 0.0);
  } else {
    copy_into(out, broadcast_view(input, shape));
  }
  add_each_product(out, left, right, {beta, alpha});
  record.attach_differentiable(out, addbmm_gradient(left, right, {beta, alpha}));
  return out;
}

Tensor addbmm_(const Tensor& input, const Tensor& left, const Tensor& right, double beta,
               double alpha) {
  const OpFront front(kAddbmmInplace);
  Recorder record =
      Recorder::overwriting(kAddbmmInplace.name, "AddbmmBackward", {&input, &left, &right});
  require_factors(kAddbmmInplace, input, left, right, 3);
  require_result_shape(kAddbmmInplace, input, {left.size(1), right.size(2)});
  save_factors(record, left, right);
  begin_inplace_write(input, kAddbmmInplace.name);
  add_each_product(input, left, right, {beta, alpha});
  record.attach_differentiable(input, addbmm_gradient(left, right, {beta, alpha}));
  return input;
}

}  // namespace

std::vector<OpDef> added_product_ops() {
  const ParamName beta{"beta", 1.0};
  const ParamName alpha{"alpha", 1.0};
  return {
      define(kAddmmInplace, kMethod, &addmm_, {"input", "mat1", "mat2", beta, alpha}),
      define(kBaddbmmInplace, kMethod, &baddbmm_, {"input", "batch1", "batch2", beta, alpha}),
      define(kAddbmm, kFunction | kMethod, &addbmm, {"input", "batch1", "batch2", beta, alpha}),
      define(kAddbmmInplace, kMethod, &addbmm_, {"input", "batch1", "batch2", beta, alpha}),
  };
}

}  // namespace ohm::ops
