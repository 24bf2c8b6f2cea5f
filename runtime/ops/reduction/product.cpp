#include "runtime/ops/reduction/product.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/reduction_scratch.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorded_arithmetic.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/kernels/launch/reduce_rows.h"
#include "runtime/ops/indexing/nonzero.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/formula.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/reduction/reduction_kernel.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kProd{"prod", CastPolicy::float32_result};
constexpr OpInfo kLogSumExp{"logsumexp", CastPolicy::float32};
constexpr OpInfo kAmax{"amax"};
constexpr OpInfo kAmin{"amin"};

std::size_t accumulator_bytes(DType dtype) {
  return dtype == DType::float64 || dtype == DType::int64 ? 8 : 4;
}

// ---- products -----------------------------------------------------------------------------------

// The places of zeros are looked for first.
void look_for_zeros(const Tensor& input) {
  const Tensor is_zero = eq(input, 0.0);
  take_nonzero_scratch(is_zero);
}

// The zeros of each row are counted, and those of all rows.
void count_zeros_of_rows(const Tensor& input, DimMask folded, std::vector<Tensor>& held) {
  held.push_back(eq(input, 0.0));
  held.push_back(reduce_sum(held[0], folded, true, DType::int64));
  const Tensor total = reduce_sum(held[1], all_dims(held[1].dims()), false, DType::int64);
}

void refuse_recorded_zeros(const Tensor& input) {
  const std::vector<double> values = to_doubles(input);
  if (std::find(values.begin(), values.end(), 0.0) == values.end()) return;
  throw std::invalid_argument("[prod] a second gradient needs an input without zeros");
}

// The product of all the others, where one or more elements are 0.
void correct_zeros(const Tensor& gradient, const Tensor& grad, const Tensor& input,
                   DimMask folded) {
  if (!gradient.has_values() || !input.has_values() || input.numel() == 0) return;
  if (formula::is_recorded()) return refuse_recorded_zeros(input);
  const functors::ReduceProductBackward slope{reduced_rows_of(gradient, folded),
                                              strided_index_of(grad, 0, false),
                                              reduced_rows_of(input, folded)};
  const std::int64_t rows = reduced_shape(input.shape(), folded, true).numel();
  run_floating_rows(slope, DType::float64, {rows, input.numel() / rows},
                    {{gradient}, {grad, input}});
}

// grad · (result / input)
Tensor prod_gradient(const Tensor& incoming, const Tensor& input, const Tensor& saved_result,
                     DimMask folded, bool is_whole) {
  if (input.dims() == 0) return is_whole ? recorded_copy(incoming) : incoming;
  const bool stays_a_number = is_whole && formula::is_recorded();
  const auto folded_back = [&](const Tensor& tensor) {
    return stays_a_number ? tensor : with_folded_dims(tensor, input.shape(), folded);
  };
  const Tensor grad = folded_back(incoming);
  const Tensor result = folded_back(saved_result);
  std::vector<Tensor> held;
  if (is_whole) {
    look_for_zeros(input);
  } else {
    count_zeros_of_rows(input, folded, held);
  }
  Tensor out;
  {
    const Tensor ratio = formula::quotient(result, input);
    out = formula::product(grad, ratio);
  }
  correct_zeros(out, grad, input, folded);
  while (!held.empty()) held.pop_back();
  return out;
}

// ---- largest and smallest -----------------------------------------------------------------------

// The same of ops that record themselves.
Tensor recorded_shared_gradient(const Tensor& incoming, const Tensor& input,
                                const Tensor& saved_result, DimMask folded, bool is_whole) {
  const Shape aligned = reduced_shape(input.shape(), folded, true);
  const auto folded_back = [&](const Tensor& tensor) {
    if (is_whole) return view(tensor, tensor.shape());
    return tensor.dims() == input.dims() ? tensor : view(tensor, aligned);
  };
  const Tensor result = folded_back(saved_result);
  const Tensor grad = folded_back(incoming);
  const Tensor mask = eq(result, input);
  const Tensor count = reduce_sum(mask, folded, true, DType::int64);
  const Tensor share = div(grad, count);
  return mul(share, mask);
}

// grad / number of equal ones · mask
Tensor folded_shared_gradient(const Tensor& incoming, const Tensor& input,
                              const Tensor& saved_result, DimMask folded, bool is_whole) {
  if (formula::is_recorded()) {
    return recorded_shared_gradient(incoming, input, saved_result, folded, is_whole);
  }
  const Tensor grad = with_folded_dims(incoming, input.shape(), folded);
  const Tensor result = with_folded_dims(saved_result, input.shape(), folded);
  const Tensor mask = formula::compared(result, input, functors::Same());
  const Tensor count = reduce_sum(mask, folded, true, DType::int64);
  const Tensor share = map_new(grad, count, functors::Quotient());
  Tensor out = empty_for_loop(input.shape(), {&share, &mask}, options_of(input));
  map_floating(out, out.dtype(), functors::Product(), share, mask);
  return out;
}

void require_elements(const OpInfo& info, const Tensor& input, DimMask folded) {
  for (int each = 0; each < input.dims(); ++each) {
    if (!contains(folded, each) || input.shape()[each] != 0) continue;
    throw std::invalid_argument(
        fmt::format("[{}] expected reduction dim {} to have non-zero size", info.name, each));
  }
}

// The kernel compares as doubles, which do not hold all of int64.
void write_whole_extreme(const Tensor& out, const Tensor& input, DimMask folded,
                         bool wants_largest) {
  using Limits = std::numeric_limits<std::int64_t>;
  std::vector<std::int64_t> found(static_cast<std::size_t>(out.numel()),
                                  wants_largest ? Limits::min() : Limits::max());
  const auto* const elements = input.data<const std::int64_t>();
  const std::array<Shape, 2> strides = {input.strides(), reduced_strides(input.shape(), folded)};
  for_each_offsets<2>(input.shape(), strides, [&](const auto& at) {
    std::int64_t& best = found[static_cast<std::size_t>(at[1])];
    best = wants_largest ? std::max(best, elements[at[0]]) : std::min(best, elements[at[0]]);
  });
  std::copy(found.begin(), found.end(), out.data<std::int64_t>());
}

void write_extreme(const Tensor& out, const Tensor& input, DimMask folded, bool wants_largest) {
  if (!out.has_values() || !input.has_values()) return;
  if (input.dtype() == DType::int64) {
    return write_whole_extreme(out, input, folded, wants_largest);
  }
  reduce_rows_into(out, input,
                   functors::ReduceMaximum{reduced_rows_of(input, folded), !wants_largest, false});
}

Tensor extreme(const OpInfo& info, std::string_view node, const Tensor& input,
               const std::optional<Shape>& dim, bool keepdim, bool wants_largest) {
  const OpFront front(info);
  const DimMask folded = folded_dims(input, dim, info);
  require_elements(info, input, folded);
  Recorder record(node, {&input});
  record.save(input);
  Tensor out = empty(reduced_shape(input.shape(), folded, keepdim), options_of(input));
  {
    const ReductionScratch scratch(input, folded, {item_bytes(input.dtype()), true});
    write_extreme(out, input, folded, wants_largest);
  }
  record.save_output(out);
  const bool is_whole = !dim || dim->empty();
  record.attach_differentiable(out, [folded, is_whole](BackwardCall& call) {
    return TensorList{
        folded_shared_gradient(call.grad(), call.saved(0), call.saved(1), folded, is_whole)};
  });
  return out;
}

// ---- sums of exponentials -----------------------------------------------------------------------

// log(sum(exp(input − largest))) + largest, with 0 in the place of an infinite largest.
Tensor log_sum(const Tensor& input, const Shape& dims, DimMask folded, bool keepdim) {
  if (input.numel() == 0) {
    const Tensor powers = map_new(input, functors::Exp());
    Tensor out = reduce_sum(powers, folded, keepdim, input.dtype());
    map_floating(out, out.dtype(), functors::Log(), out);
    return out;
  }
  const Tensor largest = amax(input, dims, true);
  {
    const Tensor size = abs(largest);
    const Tensor is_infinite = eq(size, std::numeric_limits<double>::infinity());
    map_floating(largest, largest.dtype(), functors::Kept{false}, largest, is_infinite);
  }
  const Tensor powers = map_new(input, largest, functors::ExponentialOfDifference());
  Tensor out = reduce_sum(powers, folded, keepdim, input.dtype());
  const Tensor aligned = with_folded_dims(out, input.shape(), folded);
  map_floating(aligned, out.dtype(), functors::LogarithmPlus(), aligned, largest);
  return out;
}

}  // namespace

Tensor prod(const Tensor& given, std::optional<std::int64_t> dim, bool keepdim) {
  const OpFront front(kProd);
  const DType natural = is_floating(given.dtype()) ? given.dtype() : DType::int64;
  const DType dtype = front.result_dtype(given, std::nullopt).value_or(natural);
  const DimMask folded = dim ? folded_dims(given, Shape{*dim}, kProd) : all_dims(given.dims());
  Recorder record("ProdBackward", {&given});
  record.save(given);
  Tensor out = empty(reduced_shape(given.shape(), folded, keepdim), {dtype, given.device()});
  // The kernel reads half precision for a float32 result itself.
  const bool is_half_read = item_bytes(given.dtype()) == 2 && dtype == DType::float32;
  const Tensor input = is_half_read ? given : cast(given, dtype);
  {
    const ReductionScratch scratch(input, folded, {accumulator_bytes(dtype), true});
    const functors::ReduceProduct product{reduced_rows_of(input, folded)};
    if (out.has_values() && !lacks_values(input)) {
      run_rows(product, dtype, rows_reduced(out, input, product.input), {{out}, {input}});
    }
  }
  record.save_output(out);
  record.attach_differentiable(out, [folded, is_whole = !dim](BackwardCall& call) {
    const Tensor x = recorded_cast(call.saved(0), call.grad().dtype());
    return TensorList{prod_gradient(call.grad(), x, call.saved(1), folded, is_whole)};
  });
  return out;
}

Tensor amax(const Tensor& input, const std::optional<Shape>& dim, bool keepdim) {
  return extreme(kAmax, "AmaxBackward", input, dim, keepdim, true);
}

Tensor amin(const Tensor& input, const std::optional<Shape>& dim, bool keepdim) {
  return extreme(kAmin, "AminBackward", input, dim, keepdim, false);
}

Tensor logsumexp(const Tensor& given, const Shape& dim, bool keepdim) {
  const OpFront front(kLogSumExp);
  const Tensor input = front.input(given);
  require_floating(input, kLogSumExp);
  const DimMask folded = folded_dims(input, dim, kLogSumExp);
  Recorder record("LogsumexpBackward", {&input});
  record.save(input);
  Tensor out;
  {
    const GradModeGuard unrecorded(false);
    out = log_sum(input, dim, folded, keepdim);
  }
  record.save_output(out);
  record.attach_differentiable(out, [folded](BackwardCall& call) {
    const Tensor x = call.saved(0);
    const Tensor grad = with_folded_dims(call.grad(), x.shape(), folded);
    const Tensor result = with_folded_dims(call.saved(1), x.shape(), folded);
    const Tensor below = formula::difference(x, result);
    const Tensor share = formula::mapped(below, &exp, functors::Exp());
    return TensorList{formula::product(grad, share)};
  });
  return out;
}

std::vector<OpDef> product_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName keepdim{"keepdim", false};
  return {
      define(kProd, kBoth, &prod, {"input", "dim", keepdim}),
      define(kLogSumExp, kBoth, &logsumexp, {"input", "dim", keepdim}),
      define(kAmax, kBoth, &amax, {"input", "dim", keepdim}),
      define(kAmin, kBoth, &amin, {"input", "dim", keepdim}),
  };
}

}  // namespace ohm::ops
