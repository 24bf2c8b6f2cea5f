#include "runtime/ops/reduction.h"

#include <cmath>
#include <limits>

#include "runtime/ops/pointwise_kernel.h"
#include "runtime/tensor/reduce.h"
#include "runtime/tensor/reduction_scratch.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kSum{"sum", CastPolicy::float32_result};
constexpr OpInfo kMean{"mean"};
constexpr OpInfo kMax{"max"};
constexpr OpInfo kMin{"min"};
constexpr OpInfo kArgmax{"argmax"};
constexpr OpInfo kNorm{"norm", CastPolicy::float32};
constexpr OpInfo kAny{"any"};
constexpr OpInfo kAll{"all"};

DimMask folded_dims(const Tensor& input, const std::optional<Shape>& dims, const OpInfo& info) {
  if (!dims || dims->empty()) return all_dims(input.dims());
  DimMask folded = 0;
  for (const std::int64_t dim : *dims) {
    const int position = wrap_dim(dim, input.dims(), info.name.data());
    if (input.dims() == 0) continue;
    if (contains(folded, position)) {
      throw std::invalid_argument(
          fmt::format("[{}] dim {} appears multiple times in the list of dims", info.name, dim));
    }
    folded = with(folded, position);
  }
  return folded;
}

// The gradient of a reduction's result, seen with the input's shape: folded dimensions repeat it.
Tensor expanded_over(const Tensor& grad, const Shape& shape, DimMask folded, bool keepdim) {
  Shape strides;
  int dim_of_grad = 0;
  for (int dim = 0; dim < shape.dims(); ++dim) {
    const bool is_folded = contains(folded, dim);
    strides.push_back(is_folded ? 0 : grad.strides()[dim_of_grad]);
    if (!is_folded || keepdim) ++dim_of_grad;
  }
  return make_view(grad, shape, strides, grad.impl()->offset);
}

// All elements to one, in row-major order.
template <class F>
void fold_all(const Tensor& input, const Tensor& out, double start, F&& fold) {
  const ReductionScratch scratch(input, all_dims(input.dims()));
  if (!out.has_values()) return;
  double result = start;
  visit_dtype(input.dtype(), [&]<class T>(TypeTag<T>) {
    const T* data = input.data<T>();
    for_each_offset(input.shape(), input.strides(), [&](std::int64_t offset) {
      result = fold(result, convert_element<double>(data[offset]));
    });
  });
  fill_values(out, result);
}

// max and min of all elements; a NaN wins.
template <class Better>
Tensor extremum(const OpInfo& info, std::string_view node, const Tensor& input, double worst,
                Better better) {
  const OpFront front(info);
  if (input.numel() == 0) {
    throw std::invalid_argument(
        fmt::format("[{}] expected a tensor with at least one element", info.name));
  }
  Tensor out = empty({}, options_of(input));
  fold_all(input, out, worst,
           [better](double best, double x) { return better(x, best) || x != x ? x : best; });
  if (Recorder record(node, {&input}); record.is_needed()) {
    record.save(input);
    record.save_output(out);
    record.attach(out, [](BackwardCall& call) {
      const Tensor data = call.saved(0);
      const auto is_chosen = [](auto x, auto chosen) {
        return x == chosen ? decltype(x)(1) : decltype(x)(0);
      };
      const Tensor mask = map_new(data, call.saved(1), is_chosen);
      const Tensor count = reduce_sum(mask, all_dims(mask.dims()), false, mask.dtype());
      const Tensor share = map_new(call.grad(), count, [](auto g, auto n) { return g / n; });
      return TensorList{map_new(mask, share, [](auto m, auto g) { return m * g; })};
    });
  }
  return out;
}

std::vector<Sample> with_arguments(const std::vector<std::vector<Value>>& argument_lists) {
  std::vector<Sample> samples;
  for (const std::vector<Value>& arguments : argument_lists) {
    Sample sample{randn({2, 3, 4}, {DType::float64, Device::cpu()})};
    sample.insert(sample.end(), arguments.begin(), arguments.end());
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace

Tensor sum(const Tensor& input, const std::optional<Shape>& dim, bool keepdim,
           std::optional<DType> asked) {
  const OpFront front(kSum);
  const std::optional<DType> dtype = front.result_dtype(input, asked);
  const DimMask folded = folded_dims(input, dim, kSum);
  const DType natural = is_floating(input.dtype()) ? input.dtype() : DType::int64;
  Tensor out = reduce_sum(input, folded, keepdim, dtype.value_or(natural));
  if (Recorder record("SumBackward", {&input}); record.is_needed()) {
    record.attach(out, [shape = input.shape(), folded, keepdim](BackwardCall& call) {
      return TensorList{expanded_over(call.grad(), shape, folded, keepdim)};
    });
  }
  return out;
}

Tensor sum(const Tensor& input) { return sum(input, std::nullopt, false, std::nullopt); }

Tensor mean(const Tensor& input, const std::optional<Shape>& dim, bool keepdim) {
  const OpFront front(kMean);
  require_floating(input, kMean);
  const DimMask folded = folded_dims(input, dim, kMean);
  Tensor out = reduce_sum(input, folded, keepdim, input.dtype());
  const double count = out.numel() == 0
                           ? 1.0
                           : static_cast<double>(input.numel()) / static_cast<double>(out.numel());
  const auto divide = [count](auto x) { return x / static_cast<decltype(x)>(count); };
  visit_floating(out.dtype(), [&]<class T>(TypeTag<T>) { map_unary<T, T>(out, out, divide); });
  if (Recorder record("MeanBackward", {&input}); record.is_needed()) {
    record.attach(out, [shape = input.shape(), folded, keepdim, divide](BackwardCall& call) {
      return TensorList{map_new(expanded_over(call.grad(), shape, folded, keepdim), divide)};
    });
  }
  return out;
}

Tensor mean(const Tensor& input) { return mean(input, std::nullopt, false); }

Tensor max(const Tensor& input) {
  return extremum(kMax, "MaxBackward", input, -std::numeric_limits<double>::infinity(),
                  [](double a, double b) { return a > b; });
}

Tensor min(const Tensor& input) {
  return extremum(kMin, "MinBackward", input, std::numeric_limits<double>::infinity(),
                  [](double a, double b) { return a < b; });
}

Tensor argmax(const Tensor& input, std::optional<std::int64_t> dim, bool keepdim) {
  const OpFront front(kArgmax);
  const DimMask folded = dim ? folded_dims(input, Shape{*dim}, kArgmax) : all_dims(input.dims());
  Tensor out = empty(reduced_shape(input.shape(), folded, keepdim), {DType::int64, input.device()});
  if (!out.has_values()) return out;
  std::vector<double> best(static_cast<std::size_t>(out.numel()),
                           -std::numeric_limits<double>::infinity());
  std::vector<std::int64_t> count(best.size(), 0);
  fill_values(out, 0.0);
  visit_dtype(input.dtype(), [&]<class T>(TypeTag<T>) {
    const T* data = input.data<T>();
    const std::array<Shape, 2> strides = {input.strides(), reduced_strides(input.shape(), folded)};
    for_each_offsets<2>(input.shape(), strides, [&](const auto& at) {
      const auto slot = static_cast<std::size_t>(at[1]);
      const auto value = convert_element<double>(data[at[0]]);
      if (value > best[slot]) {
        best[slot] = value;
        out.data<std::int64_t>()[slot] = count[slot];
      }
      ++count[slot];
    });
  });
  return out;
}

Tensor norm(const Tensor& given) {
  const OpFront front(kNorm);
  const Tensor input = front.input(given);
  require_floating(input, kNorm);
  Tensor out = empty({}, options_of(input));
  double squares = 0.0;
  fold_all(input, out, 0.0, [&](double, double x) {
    squares += x * x;
    return std::sqrt(squares);
  });
  if (Recorder record("NormBackward", {&input}); record.is_needed()) {
    record.save(input);
    record.save_output(out);
    record.attach(out, [](BackwardCall& call) {
      const Tensor scale = map_new(call.grad(), call.saved(1), [](auto grad, auto length) {
        return length == decltype(length){} ? decltype(grad){} : grad / length;
      });
      return TensorList{map_new(call.saved(0), scale, [](auto x, auto s) { return x * s; })};
    });
  }
  return out;
}

Tensor any(const Tensor& input) {
  const OpFront front(kAny);
  Tensor out = empty({}, {DType::boolean, input.device()});
  fold_all(input, out, 0.0, [](double found, double x) { return found != 0.0 || x != 0.0; });
  return out;
}

Tensor all(const Tensor& input) {
  const OpFront front(kAll);
  Tensor out = empty({}, {DType::boolean, input.device()});
  fold_all(input, out, 1.0, [](double holds, double x) { return holds != 0.0 && x != 0.0; });
  return out;
}

std::vector<OpDef> reduction_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  using SumDims =
      Tensor (*)(const Tensor&, const std::optional<Shape>&, bool, std::optional<DType>);
  using MeanDims = Tensor (*)(const Tensor&, const std::optional<Shape>&, bool);
  const ParamName keepdim{"keepdim", false};
  return {
      define(kSum, kBoth, static_cast<SumDims>(&sum), {"input", "dim", keepdim, "dtype"},
             [] {
               return with_arguments({{Value(), false, Value()},
                                      {Shape{1}, false, Value()},
                                      {Shape{0, -1}, true, Value()}});
             }),
      define(kMean, kBoth, static_cast<MeanDims>(&mean), {"input", "dim", keepdim},
             [] {
               return with_arguments({{Value(), false}, {Shape{1}, false}, {Shape{0, -1}, true}});
             }),
      define(kMax, kBoth, &max, {"input"}, [] { return with_arguments({{}}); }),
      define(kMin, kBoth, &min, {"input"}, [] { return with_arguments({{}}); }),
      define(kArgmax, kBoth, &argmax, {"input", "dim", keepdim}),
      define(kNorm, kBoth, &norm, {"input"}, [] { return with_arguments({{}}); }),
      define(kAny, kBoth, &any, {"input"}),
      define(kAll, kBoth, &all, {"input"}),
  };
}

}  // namespace ohm::ops
