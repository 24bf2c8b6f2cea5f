#include "runtime/ops/matmul.h"

#include <fmt/core.h>

#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/view_tracking.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/complex_views.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/inplace_binary.h"
#include "runtime/ops/mm.h"
#include "runtime/ops/vector_product.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/context.h"
#include "runtime/tensor/transforms.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMatmul{"matmul", CastPolicy::low_precision};
constexpr OpInfo kLinear{"linear", CastPolicy::low_precision};

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

// What is no case of the fused product under transforms of functions. Under vmap the bias is not
// added in place.
Tensor transformed_linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  Tensor product = matmul(input, t(weight));
  return running_transforms().vmaps > 0 ? add(product, bias) : add_(product, bias);
}

Tensor sample_tensor(const Shape& shape) { return randn(shape, {DType::float64, Device::cpu()}); }

std::vector<Sample> matmul_samples() {
  return {{sample_tensor({2, 3}), sample_tensor({3, 4})},
          {sample_tensor({3}), sample_tensor({3})},
          {sample_tensor({2, 3}), sample_tensor({3})},
          {sample_tensor({3}), sample_tensor({3, 2})},
          {sample_tensor({2, 2, 3}), sample_tensor({3, 2})},
          {sample_tensor({2, 1, 2, 3}), sample_tensor({3, 3, 2})}};
}

std::vector<Sample> linear_samples() {
  return {{sample_tensor({2, 3}), sample_tensor({4, 3}), sample_tensor({4})},
          {sample_tensor({2, 3}), sample_tensor({1, 3}), sample_tensor({1})},
          {sample_tensor({2, 3}), sample_tensor({4, 3}), Value()},
          {sample_tensor({2, 2, 3}), sample_tensor({4, 3}), sample_tensor({4})}};
}

}  // namespace

Tensor matmul(const Tensor& left, const Tensor& right) {
  const OpFront front(kMatmul);
  const Tensor other = front.input(right);
  const Tensor input = front.input(left);
  if (input.dims() == 0 || other.dims() == 0) {
    throw std::invalid_argument(
        fmt::format("[matmul] both arguments need to be at least 1D, but they are {}D and {}D",
                    input.dims(), other.dims()));
  }
  if ((input.dims() == 1 || other.dims() == 1) && is_complex(input.dtype())) {
    refuse_complex(input.dtype());
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
  if (running_transforms().any() && !(input.dims() == 3 && input.is_contiguous())) {
    return transformed_linear(input, weight, *bias);
  }
  // Rows that would have to be copied to lie in one matrix go another way than the fused one.
  if (!input.is_contiguous()) return add_(matmul(input, t(weight)), *bias);
  Shape sizes = input.shape();
  sizes[sizes.dims() - 1] = weight.size(0);
  const Tensor rows = reshape(input, {-1, input.size(-1)});
  const Tensor product = addmm(*bias, rows, t(weight));
  return Context::current().rules.linear_results_are_no_views ? unsafe_view(product, sizes)
                                                              : view(product, sizes);
}

std::vector<OpDef> matmul_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kMatmul, kBoth, &matmul, {"input", "other"}, matmul_samples),
      define(kLinear, kFunctional, &linear, {"input", "weight", "bias"}, linear_samples),
  };
}

}  // namespace ohm::ops
