#include "runtime/ops/reduction/reduction.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/reduction_scratch.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/reduce_rows.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/reduction/reduction_kernel.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kSum{"sum", CastPolicy::float32_result};
constexpr OpInfo kMean{"mean"};
constexpr OpInfo kAny{"any"};
constexpr OpInfo kAll{"all"};

// Whether all elements are something, or any.
Tensor truth_of(const OpInfo& info, const Tensor& input, const std::optional<Shape>& dim,
                bool keepdim, bool wants_all) {
  const OpFront front(info);
  const DimMask folded = dim ? folded_dims(input, *dim, info) : all_dims(input.dims());
  const Shape shape = dim ? reduced_shape(input.shape(), folded, keepdim) : Shape();
  // Of bytes the answer is a byte, as in PyTorch.
  const DType dtype = input.dtype() == DType::uint8 ? DType::uint8 : DType::boolean;
  Tensor out = empty(shape, {dtype, input.device()});
  // One element is not a reduction: it is converted.
  const Tensor converted = input.numel() == 1 ? cast(input, DType::boolean) : Tensor();
  // A partial result is a bool.
  const ReductionScratch scratch(input, folded, {1, true});
  if (!out.has_values() || (input.numel() != 0 && !input.has_values())) return out;
  reduce_rows_into(out, input, functors::AnyAll{reduced_rows_of(input, folded), wants_all});
  return out;
}

// The gradient of a reduction over `dim`. Under create_graph that of one over all, without naming
// them, is a number that is expanded at once: one of a single element, too, is summed again.
Tensor spread_over(const Tensor& grad, const Shape& shape, DimMask folded, bool is_whole) {
  const bool is_recorded = formula::is_recorded() && grad.requires_grad();
  if (is_whole && is_recorded) return expand(grad, shape);
  return expanded_over(grad, shape, folded, is_whole);
}

}  // namespace

Tensor sum(const Tensor& input, const std::optional<Shape>& dim, bool keepdim,
           std::optional<DType> asked) {
  const OpFront front(kSum);
  const std::optional<DType> dtype = front.result_dtype(input, asked);
  const DimMask folded = folded_dims(input, dim, kSum);
  const DType natural = is_differentiable(input.dtype()) ? input.dtype() : DType::int64;
  Tensor out = reduce_sum(input, folded, keepdim, dtype.value_or(natural));
  if (Recorder record("SumBackward", {&input}); record.is_needed()) {
    const bool is_whole = !dim || dim->empty();
    record.attach_differentiable(
        out, [shape = input.shape(), folded, is_whole](BackwardCall& call) {
          return TensorList{spread_over(call.grad(), shape, folded, is_whole)};
        });
  }
  return out;
}

Tensor sum(const Tensor& input) { return sum(input, std::nullopt, false, std::nullopt); }

Tensor mean(const Tensor& input, const std::optional<Shape>& dim, bool keepdim,
            std::optional<DType> asked) {
  const OpFront front(kMean);
  const DType dtype = asked.value_or(input.dtype());
  if (!is_differentiable(dtype)) {
    throw std::invalid_argument(
        fmt::format("[mean] could not infer output dtype. {} dtype must be either a floating point "
                    "or complex dtype. Got: {}",
                    asked ? "Optional" : "Input", name_of(dtype)));
  }
  const DimMask folded = folded_dims(input, dim, kMean);
  Tensor out = reduce_sum(input, folded, keepdim, dtype);
  const double count = out.numel() == 0
                           ? 1.0
                           : static_cast<double>(input.numel()) / static_cast<double>(out.numel());
  const functors::Divided divide{count};
  map_floating(out, out.dtype(), divide, out);
  if (Recorder record("MeanBackward", {&input}); record.is_needed()) {
    const bool is_whole = !dim || dim->empty();
    record.attach_differentiable(
        out, [shape = input.shape(), folded, is_whole, divide, count](BackwardCall& call) {
          const Tensor grad = spread_over(call.grad(), shape, folded, is_whole);
          return TensorList{call.is_recorded() ? div(grad, count) : map_new(grad, divide)};
        });
  }
  return out;
}

Tensor mean(const Tensor& input) { return mean(input, std::nullopt, false); }
Tensor mean(const Tensor& input, const std::optional<Shape>& dim, bool keepdim) {
  return mean(input, dim, keepdim, std::nullopt);
}

Tensor any(const Tensor& input) { return any(input, std::nullopt, false); }
Tensor any(const Tensor& input, const std::optional<Shape>& dim, bool keepdim) {
  return truth_of(kAny, input, dim, keepdim, false);
}

Tensor all(const Tensor& input) { return all(input, std::nullopt, false); }
Tensor all(const Tensor& input, const std::optional<Shape>& dim, bool keepdim) {
  return truth_of(kAll, input, dim, keepdim, true);
}

std::vector<OpDef> reduction_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  using SumDims =
      Tensor (*)(const Tensor&, const std::optional<Shape>&, bool, std::optional<DType>);
  using TruthDims = Tensor (*)(const Tensor&, const std::optional<Shape>&, bool);
  const ParamName keepdim{"keepdim", false};
  return {
      define(kSum, kBoth, static_cast<SumDims>(&sum), {"input", "dim", keepdim, "dtype"}),
      define(kMean, kBoth, static_cast<SumDims>(&mean), {"input", "dim", keepdim, "dtype"}),
      define(kAny, kBoth, static_cast<TruthDims>(&any), {"input", "dim", keepdim}),
      define(kAll, kBoth, static_cast<TruthDims>(&all), {"input", "dim", keepdim}),
  };
}

}  // namespace ohm::ops
