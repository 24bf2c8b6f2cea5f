#include "runtime/ops/matmul/matmul.h"

#include <fmt/core.h>

#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorded_arithmetic.h"
#include "runtime/autograd/recorder.h"
#include "runtime/autograd/view_tracking.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/matmul/matrix_product.h"
#include "runtime/ops/matmul/product_gradients.h"
#include "runtime/ops/matmul/product_operands.h"
#include "runtime/ops/matmul/vector_product.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/formula.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMm{"mm", CastPolicy::low_precision};
constexpr OpInfo kBmm{"bmm", CastPolicy::low_precision};
constexpr OpInfo kBaddbmm{"baddbmm", CastPolicy::low_precision};
constexpr OpInfo kAddmm{"addmm", CastPolicy::low_precision};
constexpr OpInfo kMatmul{"matmul", CastPolicy::low_precision};

void require_product(const OpInfo& info, const Tensor& a, const Tensor& b, int dims) {
  require_same_device(a, b, info);
  if (a.dtype() != b.dtype()) {
    throw std::invalid_argument(
        fmt::format("[{}] expected both operands to have the same dtype, but got {} and {}",
                    info.name, name_of(a.dtype()), name_of(b.dtype())));
  }
  const bool fits = a.dims() == dims && b.dims() == dims && a.size(-1) == b.size(-2) &&
                    (dims == 2 || a.size(0) == b.size(0));
  if (!fits) {
    throw std::invalid_argument(fmt::format("[{}] shapes cannot be multiplied: {} x {}", info.name,
                                            a.shape().str(), b.shape().str()));
  }
}

Tensor transposed(const Tensor& matrix) {
  return make_view(matrix, {matrix.shape()[1], matrix.shape()[0]},
                   {matrix.strides()[1], matrix.strides()[0]}, matrix.impl()->offset);
}

Tensor batch_transposed(const Tensor& tensor) {
  return make_view(tensor, {tensor.shape()[0], tensor.shape()[2], tensor.shape()[1]},
                   {tensor.strides()[0], tensor.strides()[2], tensor.strides()[1]},
                   tensor.impl()->offset);
}

bool is_column_major(const Shape& sizes, const Shape& strides) {
  return strides[0] == 1 && strides[1] == sizes[0];
}

// Of single columns and single rows, too, which bmm may multiply element by element.
Tensor plain_baddbmm(const Tensor& a, const Tensor& b) {
  Tensor out = empty({a.shape()[0], a.shape()[1], b.shape()[2]}, options_of(a));
  multiply_batches(a, b, out);
  return out;
}

// The products of gradients: recorded where the gradient is to be differentiated again.
Tensor gradient_mm(const Tensor& a, const Tensor& b) {
  return formula::is_recorded() ? mm(a, b) : raw_mm(a, b);
}
Tensor gradient_bmm(const Tensor& a, const Tensor& b) {
  return formula::is_recorded() ? bmm(a, b) : raw_bmm(a, b);
}
Tensor gradient_t(const Tensor& matrix) {
  return formula::is_recorded() ? t(matrix) : transposed(matrix);
}
Tensor gradient_batch_t(const Tensor& tensor) {
  return formula::is_recorded() ? transpose(tensor, 1, 2) : batch_transposed(tensor);
}

Tensor left_gradient(const Tensor& grad, const Tensor& right, MatrixLayout left) {
  if (left.is_column_major) return gradient_t(gradient_mm(right, gradient_t(grad)));
  return gradient_mm(grad, gradient_t(right));
}

Tensor right_gradient(const Tensor& grad, const Tensor& left, MatrixLayout right) {
  if (right.is_column_major) return gradient_t(gradient_mm(gradient_t(grad), left));
  return gradient_mm(gradient_t(left), grad);
}

// Each operand is wanted by the other one's gradient. Saved tensors are in the order of PyTorch's
// names for them, in which they are released: mat2 before self, but mat1 before mat2.
void save_self_last(Recorder& record, const Tensor& self, const Tensor& other) {
  record.save(record.needs(0) ? other : Tensor());
  record.save(record.needs(1) ? self : Tensor());
}

Tensor weighted(const Tensor& tensor, double factor) {
  return factor == 1.0 ? tensor : formula::times(tensor, factor);
}

Tensor weighted_addmm(const Tensor& given_bias, const Tensor& left, const Tensor& right,
                      double beta, double alpha) {
  const OpFront front(kAddmm);
  const Tensor other = front.input(right);
  const Tensor input = front.input(left);
  const Tensor bias = front.input(given_bias);
  require_product(kAddmm, input, other, 2);
  require_same_device(bias, input, kAddmm);
  const Shape shape{input.shape()[0], other.shape()[1]};
  if (!(broadcast_shapes(bias.shape(), shape, "addmm") == shape)) {
    throw std::invalid_argument(fmt::format("[addmm] bias of shape {} does not broadcast to {}",
                                            bias.shape().str(), shape.str()));
  }
  if (beta != 1.0 || alpha != 1.0) require_floating(input, kAddmm);
  Recorder record("AddmmBackward", {&bias, &input, &other});
  save_factors(record, input, other);
  Tensor out = raw_weighted_addmm(bias, input, other, beta, alpha);
  record.attach_differentiable(
      out, [a = MatrixLayout(input), b = MatrixLayout(other), scales = ProductScales{beta, alpha}](
               BackwardCall& call) { return addmm_gradients(call, a, b, scales); });
  return out;
}

void swap_last_two(Shape& shape) { std::swap(shape[shape.dims() - 1], shape[shape.dims() - 2]); }

// Whether all but the last dimension can be seen as one.
bool are_rows_of_a_matrix(const Shape& sizes, const Shape& strides) {
  const bool skips_ones = Context::current().rules.matmul_skips_dims_of_one;
  std::optional<std::int64_t> next;
  for (int dim = sizes.dims() - 2; dim >= 0; --dim) {
    if (skips_ones && sizes[dim] == 1) continue;
    if (next && strides[dim] != *next) return false;
    next = strides[dim] * sizes[dim];
  }
  return true;
}

// More than two dimensions and at most two can be one product of all rows. Where the rows do not
// lie so that they can be seen as one matrix, that costs a copy: it is worth it for the gradient of
// the smaller operand, which is one product then.
bool is_folded(const Tensor& input, const Tensor& other) {
  const bool is_turned = other.dims() > input.dims();
  const Tensor& larger = is_turned ? other : input;
  const Tensor& smaller = is_turned ? input : other;
  if (larger.dims() < 3 || smaller.dims() > 2) return false;
  if (smaller.requires_grad()) return true;
  if (input.dims() == 2) return false;  // the result would have to be turned back, with a copy
  if (larger.numel() == 0) return true;
  Shape sizes = larger.shape();
  Shape strides = larger.strides();
  if (is_turned) {
    swap_last_two(sizes);
    swap_last_two(strides);
  }
  return are_rows_of_a_matrix(sizes, strides);
}

Tensor folded_matmul(const Tensor& input, const Tensor& other) {
  const bool is_turned = other.dims() > input.dims();
  const Tensor larger = is_turned ? transpose(other, -2, -1) : input;
  const Tensor smaller = !is_turned ? other : input.dims() == 2 ? t(input) : input;
  Shape sizes = larger.shape();
  sizes.erase(sizes.dims() - 1);
  const Tensor rows = reshape(larger, {sizes.numel(), larger.size(-1)});
  if (smaller.dims() == 1) return unsafe_view(mv(rows, smaller), sizes);
  const Tensor product = mm(rows, smaller);
  sizes.push_back(smaller.size(1));
  const Tensor whole = unsafe_view(product, sizes);
  return is_turned ? contiguous(transpose(whole, -2, -1)) : whole;
}

// The dimensions before those of its matrix, or of its vector.
Shape batch_of(const Tensor& tensor) {
  Shape batch = tensor.shape();
  for (int i = 0; i < 2 && batch.dims() > 0; ++i) batch.erase(batch.dims() - 1);
  return batch;
}

// Any dimensions: batches broadcast, then one batched product.
Tensor broadcast_matmul(const Tensor& input, const Tensor& other) {
  const Shape batch = broadcast_shapes(batch_of(input), batch_of(other), "matmul");
  // A node of its own, also where nothing is repeated, as PyTorch has it.
  const auto repeated = [&batch](const Tensor& tensor, std::initializer_list<std::int64_t> last) {
    Shape wide = batch;
    Shape flat{batch.numel()};
    for (const std::int64_t size : last) {
      wide.push_back(size);
      flat.push_back(size);
    }
    return reshape(expand(tensor, wide), flat);
  };
  const bool is_vector = other.dims() == 1;
  const std::int64_t rows = input.dims() > 1 ? input.size(-2) : 1;
  const Tensor left = repeated(input, {rows, input.size(-1)});
  const Tensor right = is_vector ? unsqueeze(repeated(other, {other.size(0)}), 2)
                                 : repeated(other, {other.size(-2), other.size(-1)});
  const Tensor product = bmm(left, right);
  Shape sizes = batch;
  if (input.dims() > 1) sizes.push_back(rows);
  if (!is_vector) sizes.push_back(other.size(-1));
  return unsafe_view(is_vector ? squeeze(product, -1) : product, sizes);
}

}  // namespace

MatrixLayout::MatrixLayout(const Tensor& matrix)
    : is_column_major(ops::is_column_major(matrix.shape(), matrix.strides())) {}

TensorList addmm_gradients(const BackwardCall& call, MatrixLayout left, MatrixLayout right,
                           const ProductScales& scales) {
  TensorList grads{Tensor(), Tensor(), Tensor()};
  if (call.needs(1)) {
    grads[1] = weighted(left_gradient(call.grad(), call.saved(1), left), scales.alpha);
  }
  if (call.needs(2)) {
    grads[2] = weighted(right_gradient(call.grad(), call.saved(0), right), scales.alpha);
  }
  if (call.needs(0)) grads[0] = weighted(call.grad(), scales.beta);
  return grads;
}

TensorList baddbmm_gradients(const BackwardCall& call, const Shape& bias_shape,
                             const ProductScales& scales) {
  TensorList grads{Tensor(), Tensor(), Tensor()};
  if (call.needs(1)) {
    grads[1] = weighted(gradient_bmm(call.grad(), gradient_batch_t(call.saved(1))), scales.alpha);
  }
  if (call.needs(2)) {
    grads[2] = weighted(gradient_bmm(gradient_batch_t(call.saved(0)), call.grad()), scales.alpha);
  }
  if (call.needs(0)) grads[0] = weighted(recorded_sum_to(call.grad(), bias_shape), scales.beta);
  return grads;
}

TensorList addbmm_gradients(const BackwardCall& call, const Shape& left, const Shape& right,
                            const ProductScales& scales) {
  TensorList grads{Tensor(), Tensor(), Tensor()};
  const Tensor spread = expand(unsqueeze(call.grad(), 0), {left[0], left[1], right[2]});
  if (call.needs(1)) {
    grads[1] = weighted(gradient_bmm(spread, gradient_batch_t(call.saved(1))), scales.alpha);
  }
  if (call.needs(2)) {
    grads[2] = weighted(gradient_bmm(gradient_batch_t(call.saved(0)), spread), scales.alpha);
  }
  if (call.needs(0)) grads[0] = weighted(call.grad(), scales.beta);
  return grads;
}

Tensor mm(const Tensor& left, const Tensor& right) {
  const OpFront front(kMm);
  const Tensor other = front.input(right);
  const Tensor input = front.input(left);
  require_product(kMm, input, other, 2);
  Recorder record("MmBackward", {&input, &other});
  save_self_last(record, input, other);
  Tensor out = raw_mm(input, other);
  record.attach_differentiable(
      out, [a = MatrixLayout(input), b = MatrixLayout(other)](BackwardCall& call) {
        TensorList grads{Tensor(), Tensor()};
        if (call.needs(1)) grads[1] = right_gradient(call.grad(), call.saved(1), b);
        if (call.needs(0)) grads[0] = left_gradient(call.grad(), call.saved(0), a);
        return grads;
      });
  return out;
}

Tensor bmm(const Tensor& left, const Tensor& right) {
  const OpFront front(kBmm);
  const Tensor other = front.input(right);
  const Tensor input = front.input(left);
  require_product(kBmm, input, other, 3);
  Recorder record("BmmBackward", {&input, &other});
  save_self_last(record, input, other);
  Tensor out = raw_bmm(input, other);
  record.attach_differentiable(out, [](BackwardCall& call) {
    TensorList grads{Tensor(), Tensor()};
    if (call.needs(1)) grads[1] = gradient_bmm(gradient_batch_t(call.saved(1)), call.grad());
    if (call.needs(0)) grads[0] = gradient_bmm(call.grad(), gradient_batch_t(call.saved(0)));
    return grads;
  });
  return out;
}

Tensor baddbmm(const Tensor& given_bias, const Tensor& left, const Tensor& right, double beta,
               double alpha) {
  const OpFront front(kBaddbmm);
  const Tensor other = front.input(right);
  const Tensor input = front.input(left);
  const Tensor bias = front.input(given_bias);
  require_product(kBaddbmm, input, other, 3);
  require_floating(input, kBaddbmm);
  require_same_device(bias, input, kBaddbmm);
  const Shape shape{input.shape()[0], input.shape()[1], other.shape()[2]};
  if (!(broadcast_shapes(bias.shape(), shape, "baddbmm") == shape)) {
    throw std::invalid_argument(fmt::format("[baddbmm] bias of shape {} does not broadcast to {}",
                                            bias.shape().str(), shape.str()));
  }
  Recorder record("BaddbmmBackward", {&bias, &input, &other});
  save_factors(record, input, other);
  Tensor out = plain_baddbmm(input, other);
  map_floating(out, out.dtype(), functors::WeightedSum{alpha, beta}, out, bias);
  record.attach_differentiable(
      out, [bias_shape = bias.shape(), scales = ProductScales{beta, alpha}](BackwardCall& call) {
        return baddbmm_gradients(call, bias_shape, scales);
      });
  return out;
}

Tensor addmm(const Tensor& bias, const Tensor& input, const Tensor& other) {
  return weighted_addmm(bias, input, other, 1.0, 1.0);
}

Tensor matmul(const Tensor& left, const Tensor& right) {
  const OpFront front(kMatmul);
  const Tensor other = front.input(right);
  const Tensor input = front.input(left);
  if (input.dims() == 0 || other.dims() == 0) {
    throw std::invalid_argument(
        fmt::format("[matmul] both arguments need to be at least 1D, but they are {}D and {}D",
                    input.dims(), other.dims()));
  }
  if (input.dims() == 1 && other.dims() == 1) return dot(input, other);
  if (input.dims() == 2 && other.dims() == 1) return mv(input, other);
  if (input.size(-1) != other.size(other.dims() == 1 ? 0 : -2)) {
    throw std::invalid_argument(fmt::format("[matmul] inner dims differ: {} x {}",
                                            input.shape().str(), other.shape().str()));
  }
  if (input.dims() == 2 && other.dims() == 2) return mm(input, other);
  if (input.dims() == 1 && other.dims() == 2) {
    Tensor row = squeeze(mm(unsqueeze(input, 0), other), -2);
    forget_view(row);  // PyTorch squeezes it in place
    return row;
  }
  if (is_folded(input, other)) return folded_matmul(input, other);
  if (input.dims() == 3 && other.dims() == 3 && input.size(0) != other.size(0)) {
    // One matrix would be repeated, and its gradients added up.
    if (input.size(0) == 1 && input.requires_grad()) return matmul(squeeze(input, 0), other);
    if (other.size(0) == 1 && other.requires_grad()) return matmul(input, squeeze(other, 0));
  }
  return broadcast_matmul(input, other);
}

std::vector<OpDef> matmul_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kMm, kBoth, &mm, {"input", "other"}),
      define(kBmm, kBoth, &bmm, {"input", "other"}),
      define(kBaddbmm, kBoth, &baddbmm,
             {"input", "batch1", "batch2", {"beta", 1.0}, {"alpha", 1.0}}),
      define(kAddmm, kBoth, &weighted_addmm,
             {"bias", "input", "other", {"beta", 1.0}, {"alpha", 1.0}}),
      define(kMatmul, kBoth, &matmul, {"input", "other"}),
  };
}

}  // namespace ohm::ops
