#include "runtime/ops/reduction/scan.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/autograd/recorded_arithmetic.h"
#include "runtime/base/rows.h"
#include "runtime/base/wrapping.h"
#include "runtime/kernels/functors/gather_scatter.h"
#include "runtime/kernels/functors/special.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/kernels/launch/row_loops.h"
#include "runtime/ops/indexing/index_places.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/choice.h"
#include "runtime/ops/pointwise/comparison.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"
#include "runtime/ops/pointwise/pointwise_unary.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/rearrange.h"
#include "runtime/ops/sorting/sorting_scratch.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kCumsum{"cumsum", CastPolicy::float32_result};
constexpr OpInfo kCumprod{"cumprod", CastPolicy::float32_result};
constexpr OpInfo kLogcumsumexp{"logcumsumexp"};

// One row is the library's work, several rows are not.
Tensor scan_scratch(const Tensor& input, const Rows& rows, DType dtype) {
  if (!input.device().is_cuda() || rows.count() != 1 || rows.size == 0) return {};
  return empty_bytes(scan_scratch_bytes(rows.size, dtype, input.device()), input.device());
}

Tensor scan_sums(const Tensor& input, int dim, DType dtype) {
  Tensor out = empty(input.shape(), {dtype, input.device()});
  const Tensor wide = cast(input, dtype);
  const Tensor converted = row_major(wide);
  const Rows rows = rows_along(input.shape(), dim);
  const Tensor scratch = scan_scratch(input, rows, dtype);
  if (!out.has_values()) return out;
  const functors::ScanSum sums{index_along_dim(converted, dim)};
  run_rows(sums, dtype, {rows.count(), rows.size, rows.inner}, {{out}, {converted}});
  return out;
}

template <class T>
void multiply_rows(const Rows& rows, const T* input, T* products) {
  for_each_row_start(rows, [&](std::int64_t start) {
    T product = 1;
    for (std::int64_t i = 0; i < rows.size; ++i) {
      const std::int64_t place = start + i * rows.inner;
      product = wrapping_product(product, input[place]);
      products[place] = product;
    }
  });
}

Tensor scan_products(const Tensor& input, int dim, DType dtype) {
  Tensor out = empty(input.shape(), {dtype, input.device()});
  const Tensor wide = cast(input, dtype);
  const Tensor converted = row_major(wide);
  const Rows rows = rows_along(input.shape(), dim);
  const Tensor scratch = scan_scratch(input, rows, dtype);
  if (!out.has_values() || !converted.has_values()) return out;
  if (!is_floating(dtype)) {
    const HostInput<std::int64_t> factors(converted);
    std::vector<std::int64_t> products(static_cast<std::size_t>(out.numel()));
    multiply_rows(rows, factors.data(), products.data());
    visit_dtype(dtype, [&]<class T>(TypeTag<T>) {
      std::transform(products.begin(), products.end(), out.data<T>(),
                     [](std::int64_t product) { return convert_element<T>(product); });
    });
    return out;
  }
  visit_computed(dtype, [&]<class T>(TypeTag<T>) {
    const HostInput<T> factors(converted);
    HostOutput<T> products(out);
    multiply_rows(rows, factors.data(), products.data());
    products.commit();
  });
  return out;
}

template <class T>
void add_exponentials(const Rows& rows, const T* input, T* sums) {
  const functors::LogAddExp add;
  for_each_row_start(rows, [&](std::int64_t start) {
    for (std::int64_t i = 0; i < rows.size; ++i) {
      const std::int64_t place = start + i * rows.inner;
      sums[place] = i == 0 ? input[place] : add(sums[place - rows.inner], input[place]);
    }
  });
}

Tensor scan_exponentials(const Tensor& input, int dim) {
  Tensor out = empty(input.shape(), options_of(input));
  const Tensor dense = row_major(input);
  const Rows rows = rows_along(input.shape(), dim);
  const Tensor scratch = scan_scratch(input, rows, input.dtype());
  if (!out.has_values() || !dense.has_values()) return out;
  visit_computed(input.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> logarithms(dense);
    HostOutput<T> sums(out);
    add_exponentials(rows, logarithms.data(), sums.data());
    sums.commit();
  });
  return out;
}

double lowest_of(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return std::numeric_limits<double>::lowest();
    case DType::float16:
      return -65504.0;
    case DType::bfloat16:
      return -0x1.FEp127;
    default:
      return static_cast<double>(std::numeric_limits<float>::lowest());
  }
}

// The part of a gradient of one sign, whose logarithm is given: exp(logcumsumexp from the end of
// (logarithm − result) + input).
Tensor exponential_part(const Tensor& logarithm, const Tensor& result, const Tensor& input,
                        int dim) {
  const Shape along{dim};
  const Tensor shifted = sub(logarithm, result);
  Tensor sums;
  {
    const Tensor mirrored = flip(shifted, along);
    const Tensor running = logcumsumexp(mirrored, dim);
    sums = flip(running, along);
  }
  const Tensor moved = add(sums, input);
  return exp(moved);
}

Tensor logcumsumexp_gradient(const Tensor& grad, const Tensor& input, const Tensor& result,
                             int dim) {
  if (grad.dims() == 0 || input.numel() == 0) return grad;
  const Tensor lowest = full({}, lowest_of(grad.dtype()), options_of(grad));
  Tensor logarithm;
  {
    const Tensor size = abs(grad);
    logarithm = log(size);
  }
  Tensor positive;
  {
    const Tensor is_positive = gt(grad, 0.0);
    positive = where(is_positive, logarithm, lowest);
  }
  Tensor negative;
  {
    const Tensor is_negative = lt(grad, 0.0);
    negative = where(is_negative, logarithm, lowest);
  }
  const Tensor rising = exponential_part(positive, result, input, dim);
  const Tensor falling = exponential_part(negative, result, input, dim);
  return sub(rising, falling);
}

// A cumulative sum from the end.
Tensor sums_from_each_place(const Tensor& tensor, int dim) {
  if (formula::is_recorded()) {
    const Shape along{dim};
    return flip(cumsum(flip(tensor, along), dim), along);
  }
  const Tensor mirrored = flipped(tensor, with(0, dim));
  const Tensor sums = scan_sums(mirrored, dim, mirrored.dtype());
  return flipped(sums, with(0, dim));
}

// The sums of result · grad from each place on, divided by the input.
Tensor product_gradient(const Tensor& incoming, const Tensor& input, const Tensor& result,
                        int dim) {
  const Tensor grad = recorded_cast(incoming, input.dtype());
  if (input.numel() <= 1 || input.shape()[dim] == 1) return grad;
  const Tensor weighted = formula::product(result, grad);
  const Tensor is_zero = eq(input, 0.0);
  {
    const Tensor has_zero = any(is_zero);
    if (has_zero.has_values() && has_zero.item() != 0) {
      throw std::invalid_argument("[cumprod] the gradient needs an input without zeros");
    }
  }
  const Tensor sums = sums_from_each_place(weighted, dim);
  return div(sums, input);
}

}  // namespace

Tensor cumprod(const Tensor& input, std::int64_t dim, std::optional<DType> asked) {
  const OpFront front(kCumprod);
  const int position = wrap_dim(dim, input.dims(), "cumprod");
  const DType natural = is_floating(input.dtype()) ? input.dtype() : DType::int64;
  const DType dtype = front.result_dtype(input, asked).value_or(natural);
  Recorder record("CumprodBackward", {&input});
  record.save(input);
  Tensor out = scan_products(input, position, dtype);
  record.save_output(out);
  record.attach_differentiable(out, [position](BackwardCall& call) {
    const Tensor grad = recorded_cast(call.grad(), call.saved(0).dtype());
    return TensorList{product_gradient(grad, call.saved(0), call.saved(1), position)};
  });
  return out;
}

Tensor cumsum(const Tensor& input, std::int64_t dim, std::optional<DType> asked) {
  const OpFront front(kCumsum);
  const int position = wrap_dim(dim, input.dims(), "cumsum");
  const DType natural = is_floating(input.dtype()) ? input.dtype() : DType::int64;
  Tensor out = scan_sums(input, position, front.result_dtype(input, asked).value_or(natural));
  if (Recorder record("CumsumBackward", {&input}); record.is_needed()) {
    record.attach_differentiable(out, [position, dtype = input.dtype()](BackwardCall& call) {
      const Tensor grad = recorded_cast(call.grad(), dtype);
      if (grad.numel() <= 1 || grad.shape()[position] == 1) return TensorList{grad};
      return TensorList{sums_from_each_place(grad, position)};
    });
  }
  return out;
}

Tensor logcumsumexp(const Tensor& input, std::int64_t dim) {
  const OpFront front(kLogcumsumexp);
  require_floating(input, kLogcumsumexp);
  const int position = wrap_dim(dim, input.dims(), "logcumsumexp");
  Recorder record("LogcumsumexpBackward", {&input});
  record.save(input);
  Tensor out = scan_exponentials(input, position);
  record.save_output(out);
  record.attach_differentiable(out, [position](BackwardCall& call) {
    return TensorList{logcumsumexp_gradient(call.grad(), call.saved(0), call.saved(1), position)};
  });
  return out;
}

std::vector<OpDef> scan_ops() {
  constexpr unsigned kBoth = kFunction | kMethod;
  return {
      define(kCumsum, kBoth, &cumsum, {"input", "dim", "dtype"}),
      define(kCumprod, kBoth, &cumprod, {"input", "dim", "dtype"}),
      define(kLogcumsumexp, kBoth, &logcumsumexp, {"input", "dim"}),
  };
}

}  // namespace ohm::ops
