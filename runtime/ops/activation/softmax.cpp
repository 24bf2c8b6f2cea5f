#include "runtime/ops/activation/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/arithmetic/reduction_scratch.h"
#include "runtime/base/rows.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/rows.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/kernels/launch/reduce_rows.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/reduction/reduction.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kSoftmax{"softmax", CastPolicy::float32_result};
constexpr OpInfo kSafeSoftmax{"safe_softmax"};
constexpr OpInfo kLogSoftmax{"log_softmax", CastPolicy::float32_result};

enum class Form : std::uint8_t { plain, log };

template <class Out, class In>
void softmax_row(Out* y, const In* x, std::int64_t size, std::int64_t step, Form form) {
  using Compute = ComputeType<Out>;
  const auto at = [&](std::int64_t i) { return convert_element<Compute>(x[i * step]); };
  Compute largest = -std::numeric_limits<Compute>::infinity();
  for (std::int64_t i = 0; i < size; ++i) largest = std::max(largest, at(i));
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += static_cast<double>(std::exp(at(i) - largest));
  const auto scale = static_cast<Compute>(1.0 / sum);
  const auto log_sum = static_cast<Compute>(std::log(sum));
  for (std::int64_t i = 0; i < size; ++i) {
    const Compute shifted = at(i) - largest;
    const Compute result = form == Form::log ? shifted - log_sum : std::exp(shifted) * scale;
    y[i * step] = convert_element<Out>(result);
  }
}

// The gradient of one row from its result `y`. For the plain form `grad` is already gradient
// times result.
template <class Out, class In>
void softmax_row_gradient(Out* target, const In* grad, const In* y, std::int64_t size,
                          std::int64_t step, Form form) {
  using Compute = ComputeType<In>;
  double sum = 0;
  for (std::int64_t i = 0; i < size; ++i) sum += convert_element<double>(grad[i * step]);
  const auto total = static_cast<Compute>(sum);
  for (std::int64_t i = 0; i < size; ++i) {
    const auto result = convert_element<Compute>(y[i * step]);
    const Compute weight = form == Form::log ? std::exp(result) : result;
    target[i * step] =
        convert_element<Out>(convert_element<Compute>(grad[i * step]) - weight * total);
  }
}

RowShape shape_of(const Rows& rows) { return {rows.count(), rows.size, rows.inner}; }

// `out` and `x` are row-major; they may be one tensor.
void softmax_rows(const Tensor& out, const Tensor& x, int dim, Form form) {
  if (!out.has_values()) return;
  const Rows rows = rows_along(x.shape(), dim);
  if (are_rows_done_on_cuda(functors::SoftmaxRow{form == Form::log}, out.dtype(), shape_of(rows),
                            {{out}, {x}})) {
    return;
  }
  visit_floating(out.dtype(), [&]<class Out>(TypeTag<Out>) {
    visit_floating(x.dtype(), [&]<class In>(TypeTag<In>) {
      for_each_row_start(rows, [&](std::int64_t start) {
        softmax_row(out.data<Out>() + start, x.data<const In>() + start, rows.size, rows.inner,
                    form);
      });
    });
  });
}

Tensor softmax_forward(const Tensor& input, int dim, DType dtype, Form form) {
  Tensor out = empty(input.shape(), {dtype, input.device()});
  const Tensor x = row_major(input);
  softmax_rows(out, x, dim, form);
  return out;
}

Tensor softmax_backward(const Tensor& grad, const Tensor& given, int dim, DType dtype, Form form) {
  Tensor out = empty(given.shape(), {dtype, given.device()});
  const Tensor product = form == Form::plain ? map_new(grad, given, functors::Product()) : grad;
  const Tensor g = row_major(product);
  const Tensor result = row_major(given);
  if (!out.has_values()) return out;
  const Rows rows = rows_along(result.shape(), dim);
  if (are_rows_done_on_cuda(functors::SoftmaxBackwardRow{form == Form::log}, result.dtype(),
                            shape_of(rows), {{out}, {g, result}})) {
    return out;
  }
  visit_floating(dtype, [&]<class Out>(TypeTag<Out>) {
    visit_floating(result.dtype(), [&]<class In>(TypeTag<In>) {
      for_each_row_start(rows, [&](std::int64_t start) {
        softmax_row_gradient(out.data<Out>() + start, g.data<const In>() + start,
                             result.data<const In>() + start, rows.size, rows.inner, form);
      });
    });
  });
  return out;
}

Tensor row_sum(const Tensor& tensor, int dim) {
  return sum(tensor, Shape{dim}, true, std::nullopt);
}

// What softmax_backward() is differentiated to, along the result: `grad` is the gradient of its
// output, `incoming` the one that it was given. The right factor of a product is made first, and
// all factors live until the whole is there.
Tensor second_gradient(const Tensor& grad, const Tensor& incoming, const Tensor& result, int dim,
                       Form form) {
  using formula::difference;
  using formula::product;
  if (form == Form::log) {
    const Tensor y = exp(result);
    const Tensor total = row_sum(incoming, dim);
    const Tensor opposite = formula::negated(total);
    const Tensor slope = product(opposite, y);
    return product(slope, grad);
  }
  const Tensor weighted = product(grad, result);
  const Tensor weight = row_sum(weighted, dim);
  const Tensor along_grad = product(incoming, weight);
  const Tensor share = product(result, incoming);
  const Tensor shares = row_sum(share, dim);
  const Tensor along_result = product(shares, grad);
  const Tensor direct = product(incoming, grad);
  const Tensor first = difference(direct, along_result);
  return difference(first, along_grad);
}

// softmax_backward(), recorded.
Tensor softmax_slope(const Tensor& grad, const Tensor& result, int dim, DType dtype, Form form) {
  Tensor out = softmax_backward(grad, result, dim, dtype, form);
  if (Recorder record("SoftmaxBackwardDataBackward", {&grad, &result}); record.is_needed()) {
    record.save(record.needs(1) ? grad : Tensor());
    record.save(result);
    record.attach_differentiable(out, [dim, form, dtype](BackwardCall& call) {
      TensorList grads{Tensor(), Tensor()};
      const Tensor y = call.saved(1);
      const Tensor g = to_dtype(call.grad(), y.dtype());
      if (call.needs(0) && form == Form::plain) grads[0] = softmax_slope(g, y, dim, dtype, form);
      if (call.needs(0) && form == Form::log) {
        const Tensor powers = exp(y);
        const Tensor weighted = formula::product(g, powers);
        const Tensor total = row_sum(weighted, dim);
        grads[0] = formula::difference(g, total);
      }
      if (call.needs(1)) grads[1] = second_gradient(g, call.saved(0), y, dim, form);
      return grads;
    });
  }
  return out;
}

Tensor softmax_of(const OpInfo& info, std::string_view node, const Tensor& given, std::int64_t dim,
                  std::optional<DType> asked, Form form) {
  const OpFront front(info);
  const DType dtype = front.result_dtype(given, asked).value_or(given.dtype());
  if (!is_floating(dtype)) {
    throw std::invalid_argument(fmt::format(
        "[{}] not implemented for {}: expected a floating dtype", info.name, name_of(dtype)));
  }
  // The kernel itself widens float16 to float32; every other change of dtype is a cast before it.
  const bool is_fused =
      given.device().is_cuda() && given.dtype() == DType::float16 && dtype == DType::float32;
  const Tensor input = is_fused ? given : to_dtype(given, dtype);
  const int axis = wrap_dim(dim, input.dims(), info.name.data());
  Tensor out = softmax_forward(input, axis, dtype, form);
  if (Recorder record(node, {&input}); record.is_needed()) {
    record.save_output(out);
    record.attach_differentiable(
        out, [axis, form, input_dtype = input.dtype()](BackwardCall& call) {
          return TensorList{softmax_slope(call.grad(), call.saved(0), axis, input_dtype, form)};
        });
  }
  return out;
}

// Rows in which nothing takes part have no softmax: zeros stand for it.
void clear_masked_rows(const Tensor& input, const Tensor& out) {
  const int axis = input.dims() - 1;
  const DimMask folded = with(0, axis);
  const Tensor is_masked = empty_like(input, DType::boolean);
  const Tensor masked_rows =
      empty(reduced_shape(input.shape(), folded, true), {DType::boolean, input.device()});
  { const ReductionScratch scratch(is_masked, folded, {1, true}); }
  const Tensor zero = zeros({}, options_of(out));
  if (!out.has_values() || out.numel() == 0) return;
  const std::int64_t size = input.size(axis);
  run_floating_rows(functors::ClearedRow{reduced_rows_of(input, folded)}, out.dtype(),
                    {out.numel() / size, size}, {{out}, {input}});
}

}  // namespace

Tensor softmax(const Tensor& input, std::int64_t dim, std::optional<DType> dtype) {
  return softmax_of(kSoftmax, "SoftmaxBackward", input, dim, dtype, Form::plain);
}

void softmax_over(const Tensor& input) {
  const OpFront front(kSoftmax);
  softmax_rows(input, input, input.dims() - 1, Form::plain);
}

Tensor safe_softmax(const Tensor& input) {
  const OpFront front(kSafeSoftmax);
  const int axis = input.dims() - 1;
  Recorder record("SafeSoftmaxBackward", {&input});
  Tensor out = softmax_forward(input, axis, input.dtype(), Form::plain);
  clear_masked_rows(input, out);
  record.save_output(out);
  record.attach(out, [axis, dtype = input.dtype()](BackwardCall& call) {
    return TensorList{softmax_backward(call.grad(), call.saved(0), axis, dtype, Form::plain)};
  });
  return out;
}

Tensor log_softmax(const Tensor& input, std::int64_t dim, std::optional<DType> dtype) {
  return softmax_of(kLogSoftmax, "LogSoftmaxBackward", input, dim, dtype, Form::log);
}

std::vector<OpDef> softmax_ops() {
  constexpr unsigned kEverywhere = kFunction | kMethod | kFunctional;
  return {
      define(kSoftmax, kEverywhere, &softmax, {"input", "dim", "dtype"}),
      define(kLogSoftmax, kEverywhere, &log_softmax, {"input", "dim", "dtype"}),
  };
}

}  // namespace ohm::ops
