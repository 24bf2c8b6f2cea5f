#include "runtime/ops/bilinear.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/autocast_guard.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/inplace_binary.h"
#include "runtime/ops/matmul.h"
#include "runtime/ops/slice.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kBilinear{"bilinear", CastPolicy::widest};

// rows [batch, in1], columns [batch, in2], weight [out, in1, in2], and the gradient [batch, out].
struct Form {
  Tensor rows;
  Tensor weight;
  Tensor columns;

  std::int64_t batch() const { return rows.shape()[0]; }
  std::int64_t outputs() const { return weight.shape()[0]; }
  Tensor slice_of_weight(std::int64_t output) const { return narrow(weight, 0, output, 1); }
  // rows · W, [1, batch, in2]
  Tensor half(std::int64_t output) const {
    return bmm(unsqueeze(rows, 0), slice_of_weight(output));
  }
  // Of one feature of the result, [batch, 1].
  static Tensor column(const Tensor& grad, std::int64_t output) {
    return narrow(grad, 1, output, 1);
  }
};

Tensor apply_form(const Form& form) {
  Tensor out = zeros({form.batch(), form.outputs()}, options_of(form.rows));
  for (std::int64_t k = 0; k < form.outputs(); ++k) {
    Tensor part = form.half(k);
    part =
        bmm(reshape(part, {form.batch(), 1, form.columns.shape()[1]}), unsqueeze(form.columns, 2));
    add_(narrow(out, 1, k, 1), reshape(part, {form.batch(), 1}));
  }
  return out;
}

Tensor gradient_of_rows_of(const Form& form, const Tensor& grad) {
  const std::int64_t width = form.rows.shape()[1];
  Tensor out = zeros({form.batch(), width}, options_of(grad));
  for (std::int64_t k = 0; k < form.outputs(); ++k) {
    Tensor part = mul(unsqueeze(Form::column(grad, k), 2), form.slice_of_weight(k));
    part = bmm(part, unsqueeze(form.columns, 2));
    add_(out, reshape(part, {form.batch(), width}));
  }
  return out;
}

Tensor gradient_of_weight(const Form& form, const Tensor& grad) {
  Tensor out = zeros(form.weight.shape(), options_of(grad));
  for (std::int64_t k = 0; k < form.outputs(); ++k) {
    Tensor part = mul(form.rows, Form::column(grad, k));
    part = bmm(unsqueeze(transpose(part, 0, 1), 0), unsqueeze(form.columns, 0));
    add_(narrow(out, 0, k, 1), part);
  }
  return out;
}

Tensor gradient_of_columns(const Form& form, const Tensor& grad) {
  const std::int64_t width = form.columns.shape()[1];
  Tensor out = zeros({form.batch(), width}, options_of(grad));
  for (std::int64_t k = 0; k < form.outputs(); ++k) {
    Tensor part = form.half(k);
    part = mul(reshape(part, {form.batch(), width}), Form::column(grad, k));
    add_(out, part);
  }
  return out;
}

// Three tensors multiplied in PyTorch's way, with a gradient for each.
Tensor trilinear(const Form& form) {
  Recorder record("TrilinearBackward", {&form.rows, &form.weight, &form.columns});
  record.save(form.rows);
  record.save(form.weight);
  record.save(form.columns);
  Tensor out;
  {
    const NoGradGuard no_graph;
    out = apply_form(form);
  }
  record.attach(out, [](BackwardCall& call) {
    const Form kept{call.saved(0), call.saved(1), call.saved(2)};
    const NoGradGuard no_graph;
    TensorList grads(3);
    if (call.needs(0)) grads[0] = gradient_of_rows_of(kept, call.grad());
    if (call.needs(1)) grads[1] = gradient_of_weight(kept, call.grad());
    if (call.needs(2)) grads[2] = gradient_of_columns(kept, call.grad());
    return grads;
  });
  return out;
}

void check_form(const Tensor& input1, const Tensor& input2, const Tensor& weight,
                const std::optional<Tensor>& bias) {
  for (const Tensor* tensor : {&input1, &input2, &weight}) require_floating(*tensor, kBilinear);
  require_same_device(input1, input2, kBilinear);
  require_same_device(input1, weight, kBilinear);
  const int dims = input1.dims();
  bool fits = dims > 0 && input2.dims() == dims && weight.dims() == 3 &&
              input1.size(-1) == weight.shape()[1] && input2.size(-1) == weight.shape()[2] &&
              (!bias || bias->shape() == Shape{weight.shape()[0]});
  for (int dim = 0; dim + 1 < dims; ++dim) {
    fits = fits && input1.shape()[dim] == input2.shape()[dim];
  }
  if (fits) return;
  throw std::invalid_argument(fmt::format(
      "[bilinear] inputs [*, in1] and [*, in2] do not fit a weight [out, in1, in2]: {}, {}, {}",
      input1.shape().str(), input2.shape().str(), weight.shape().str()));
}

std::vector<Sample> two_inputs() {
  const TensorOptions options{DType::float64, Device::cpu()};
  return {{randn({3, 2}, options), randn({3, 4}, options), randn({2, 2, 4}, options)},
          {randn({2, 2, 3}, options), randn({2, 2, 2}, options), randn({2, 3, 2}, options)}};
}

}  // namespace

Tensor bilinear(const Tensor& given1, const Tensor& given2, const Tensor& given_weight,
                const std::optional<Tensor>& given_bias) {
  const OpFront front(kBilinear);
  std::vector<Tensor> tensors = {given1, given2, given_weight};
  if (given_bias) tensors.push_back(*given_bias);
  tensors = front.widest(tensors);
  const AutocastGuard plain(false, autocast_settings().dtype);
  const Tensor& input1 = tensors[0];
  const Tensor& input2 = tensors[1];
  const Tensor& weight = tensors[2];
  const std::optional<Tensor> bias = given_bias ? std::optional(tensors[3]) : std::nullopt;
  check_form(input1, input2, weight, bias);
  Shape shape = input1.shape();
  shape[shape.dims() - 1] = weight.shape()[0];
  const Tensor rows = reshape(input1, {-1, input1.size(-1)});
  const Tensor columns = reshape(input2, {-1, input2.size(-1)});
  Tensor out = reshape(trilinear({rows, weight, columns}), shape);
  if (bias) out = add(out, *bias);
  return out;
}

std::vector<OpDef> bilinear_ops() {
  return {
      define(kBilinear, kFunction | kCppFunctional, &bilinear,
             {"input1", "input2", "weight", "bias"}, two_inputs),
  };
}

}  // namespace ohm::ops
