#include "runtime/ops/reduction/extremum.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/reduction_scratch.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/reduce_split.h"
#include "runtime/kernels/launch/split_reduction.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/formula.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/reduction/cuda/extremum.h"
#include "runtime/ops/reduction/reduction_kernel.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kMax{"max"};
constexpr OpInfo kMin{"min"};
constexpr OpInfo kArgmax{"argmax"};
constexpr OpInfo kArgmin{"argmin"};

enum class Wanted : bool { largest, smallest };

bool is_largest(Wanted wanted) { return wanted == Wanted::largest; }

bool is_more_extreme(double x, double best, bool wants_largest) {
  return functors::is_more_extreme(x, best, wants_largest);
}
bool is_more_extreme(std::int64_t x, std::int64_t best, bool wants_largest) {
  return wants_largest ? x > best : x < best;
}

// Number: double, or of integers int64.
template <class Number>
void find_extrema_as(const Extrema& extrema) {
  const Tensor& input = extrema.input;
  const auto count = static_cast<std::size_t>(extrema.count());
  std::vector<Number> best(count);
  std::vector<std::int64_t> places(count);
  std::vector<std::int64_t> seen(count);
  const auto note = [&](std::size_t slot, Number x) {
    if (seen[slot] == 0 || is_more_extreme(x, best[slot], extrema.wants_largest)) {
      best[slot] = x;
      places[slot] = seen[slot];
    }
    ++seen[slot];
  };
  const std::array<Shape, 2> strides = {input.strides(),
                                        reduced_strides(input.shape(), extrema.folded)};
  visit_dtype(input.dtype(), [&]<class T>(TypeTag<T>) {
    const T* const data = input.data<const T>();
    for_each_offsets<2>(input.shape(), strides, [&](const auto& at) {
      note(static_cast<std::size_t>(at[1]), convert_element<Number>(data[at[0]]));
    });
  });
  const auto store = [](const Tensor& to, const auto& from) {
    if (!to.defined()) return;
    visit_dtype(to.dtype(), [&]<class T>(TypeTag<T>) {
      std::transform(from.begin(), from.end(), to.data<T>(),
                     [](auto value) { return convert_element<T>(value); });
    });
  };
  store(extrema.values, best);
  store(extrema.places, places);
}

void find_extrema(const Extrema& extrema) {
  // A partial result is a value, and its place where that is wanted.
  const std::size_t bytes = extrema.places.defined() ? 16 : item_bytes(extrema.input.dtype());
  const ReductionScratch scratch(extrema.input, extrema.folded, {bytes, true});
  const bool has_values =
      extrema.values.defined() ? extrema.values.has_values() : extrema.places.has_values();
  if (!has_values || are_found_on_cuda(extrema)) return;
  if (is_floating(extrema.input.dtype())) return find_extrema_as<double>(extrema);
  find_extrema_as<std::int64_t>(extrema);
}

// ---- all elements -------------------------------------------------------------------------------

Tensor extremum(const OpInfo& info, std::string_view node, const Tensor& input, Wanted wanted) {
  const OpFront front(info);
  if (input.numel() == 0) {
    throw std::invalid_argument(
        fmt::format("[{}] expected a tensor with at least one element", info.name));
  }
  Recorder record(node, {&input});
  record.save(input);
  Tensor out = empty({}, options_of(input));
  find_extrema({row_major(input), all_dims(input.dims()), is_largest(wanted), out, Tensor()});
  record.save_output(out);
  record.attach_differentiable(out, [](BackwardCall& call) {
    return TensorList{shared_gradient(call.grad(), call.saved(0), call.saved(1))};
  });
  return out;
}

// ---- along a dimension --------------------------------------------------------------------------

ValuesAndIndices extremum_along(const OpInfo& info, std::string_view node, const Tensor& input,
                                std::int64_t dim, bool keepdim, Wanted wanted) {
  const OpFront front(info);
  const int position = picked_dim(info, input, dim);
  const DimMask folded = with(0, position);
  const Shape shape = reduced_shape(input.shape(), folded, keepdim);
  const ValuesAndIndices out = {empty(shape, options_of(input)),
                                empty(shape, {DType::int64, input.device()})};
  find_extrema({input, folded, is_largest(wanted), out.first, out.second});
  record_pick(node, input, out, position);
  return out;
}

void require_extremes(const OpInfo& info, const Tensor& input, std::optional<std::int64_t> dim) {
  if (input.numel() != 0) return;
  if (!dim) {
    throw std::invalid_argument(fmt::format(
        "[{}] Expected reduction dim to be specified for input.numel() == 0. Specify the reduction "
        "dim with the 'dim' argument.",
        info.name));
  }
  const int position = wrap_dim(*dim, input.dims(), info.name.data());
  if (input.shape()[position] != 0) return;
  throw std::invalid_argument(
      fmt::format("[{}] Expected reduction dim {} to have non-zero size.", info.name, position));
}

Tensor arg_extremum(const OpInfo& info, const Tensor& input, std::optional<std::int64_t> dim,
                    bool keepdim, Wanted wanted) {
  const OpFront front(info);
  refuse_bool(info, input);
  const DimMask folded = dim ? folded_dims(input, Shape{*dim}, info) : all_dims(input.dims());
  require_extremes(info, input, dim);
  Tensor out = empty(reduced_shape(input.shape(), folded, keepdim), {DType::int64, input.device()});
  if (dim) {
    find_extrema({input, folded, is_largest(wanted), Tensor(), out});
  } else {
    const Tensor flat = unrecorded_reshape(input, {input.numel()});
    find_extrema({flat, all_dims(1), is_largest(wanted), Tensor(), out});
  }
  return out;
}

// ---- rows ---------------------------------------------------------------------------------------

using WholeExtremum = Tensor (*)(const Tensor&);
using PairExtremum = Tensor (*)(const Tensor&, const Tensor&);
using RowExtremum = ValuesAndIndices (*)(const Tensor&, std::int64_t, bool);

std::int64_t whole_number(double number) {
  const auto integer = static_cast<std::int64_t>(number);
  if (static_cast<double>(integer) == number) return integer;
  throw std::invalid_argument(fmt::format("[max] dim must be an integer, got {}", number));
}

// One name for three: of all elements; with a dimension, two tensors; with another tensor, the
// larger or smaller of each pair.
template <WholeExtremum Whole, RowExtremum Line, PairExtremum Pair>
Value extremum_row(const Tensor& input, const std::optional<TensorOrNumber>& dim, bool keepdim) {
  if (!dim) return Whole(input);
  if (const Tensor* other = std::get_if<Tensor>(&*dim)) return Pair(input, *other);
  return as_list(Line(input, whole_number(number_of(*dim)), keepdim));
}

}  // namespace

Tensor shared_gradient(const Tensor& grad, const Tensor& input, const Tensor& result) {
  const auto compare = [](const Tensor& out, const Tensor& a, const Tensor& b) {
    map_elements(out, a.dtype(), functors::Same(), a, b);
  };
  const Tensor input_is_nan =
      empty_for_loop(input.shape(), {&input}, {DType::boolean, input.device()});
  const Tensor result_is_nan =
      empty_for_loop(result.shape(), {&result}, {DType::boolean, result.device()});
  const Tensor mask = empty_for_loop(input.shape(), {&input}, {DType::boolean, input.device()});
  compare(mask, input, result);
  const Tensor count = reduce_sum(mask, all_dims(mask.dims()), false, DType::int64);
  if (formula::is_recorded()) return mul(mask, div(grad, count));
  const Tensor share = map_new(grad, count, functors::Quotient());
  Tensor out = empty_for_loop(input.shape(), {&input}, options_of(input));
  map_floating(out, out.dtype(), functors::Product(), mask, share);
  return out;
}

Tensor max(const Tensor& input) { return extremum(kMax, "MaxBackward", input, Wanted::largest); }
Tensor min(const Tensor& input) { return extremum(kMin, "MinBackward", input, Wanted::smallest); }

ValuesAndIndices max(const Tensor& input, std::int64_t dim, bool keepdim) {
  return extremum_along(kMax, "MaxBackward", input, dim, keepdim, Wanted::largest);
}

ValuesAndIndices min(const Tensor& input, std::int64_t dim, bool keepdim) {
  return extremum_along(kMin, "MinBackward", input, dim, keepdim, Wanted::smallest);
}

Tensor argmax(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return arg_extremum(kArgmax, input, dim, keepdim, Wanted::largest);
}

Tensor argmin(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  return arg_extremum(kArgmin, input, dim, keepdim, Wanted::smallest);
}

std::vector<OpDef> extremum_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  const ParamName keepdim{"keepdim", false};
  return {
      define(kMax, kBoth, &extremum_row<&max, &max, &maximum>, {"input", "dim", keepdim}),
      define(kMin, kBoth, &extremum_row<&min, &min, &minimum>, {"input", "dim", keepdim}),
      define(kArgmax, kBoth, &argmax, {"input", "dim", keepdim}),
      define(kArgmin, kBoth, &argmin, {"input", "dim", keepdim}),
  };
}

}  // namespace ohm::ops
