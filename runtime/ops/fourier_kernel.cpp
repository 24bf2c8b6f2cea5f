#include "runtime/ops/fourier_kernel.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/arithmetic/complex_copy.h"
#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/base/strided.h"
#include "runtime/ops/host/fourier.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/complex_parts.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

// ---- what is allocated --------------------------------------------------------------------------

/// How many dimensions one plan of cuFFT transforms.
constexpr int kPlanDims = 3;

using DimOrder = std::vector<int>;

DimOrder ints_of(const Shape& dims) { return {dims.begin(), dims.end()}; }

bool is_among(const DimOrder& dims, int dim) {
  return std::find(dims.begin(), dims.end(), dim) != dims.end();
}

/// By descending stride, as PyTorch sorts them.
void sort_by_stride(DimOrder::iterator begin, DimOrder::iterator end, const Tensor& tensor) {
  const Shape& strides = tensor.strides();
  std::sort(begin, end, [&](int a, int b) { return strides[a] > strides[b]; });
}

/// The dimensions as a plan sees them: those of the batch, then `dims`.
DimOrder plan_order(const Tensor& input, const DimOrder& dims) {
  DimOrder order(static_cast<std::size_t>(input.dims()));
  std::iota(order.begin(), order.end(), 0);
  const auto batch_end =
      std::partition(order.begin(), order.end(), [&](int dim) { return !is_among(dims, dim); });
  sort_by_stride(order.begin(), batch_end, input);
  std::copy(dims.begin(), dims.end(), batch_end);
  return order;
}

/// [batch, dims…], a copy where that is not a view.
Tensor batched_input(const Tensor& input, const DimOrder& order, std::size_t batch_dims) {
  Shape sizes;
  Shape strides;
  Shape joined{1};
  for (std::size_t i = 0; i < order.size(); ++i) {
    sizes.push_back(input.shape()[order[i]]);
    strides.push_back(input.strides()[order[i]]);
    if (i < batch_dims) {
      joined[0] *= sizes.back();
    } else {
      joined.push_back(sizes.back());
    }
  }
  return unrecorded_reshape(make_view(input, sizes, strides, input.impl()->offset), joined);
}

/// Whether cuFFT has no layout for a batched input: strides that are none of a larger array.
/// `signal`: the sizes that the plan has, the batch in front.
bool must_be_copied(const Tensor& batched, const Shape& signal) {
  const Shape& strides = batched.strides();
  const int last = batched.dims() - 1;
  std::int64_t inner = strides[last];
  if (inner <= 0 || (signal[0] != 1 && strides[0] == 0)) return true;
  for (int dim = last - 1; dim > 0; --dim) {
    if (signal[dim] == 1) continue;
    if (strides[dim] <= 0 || strides[dim] % inner != 0) return true;
    inner = strides[dim];
  }
  return false;
}

/// `tensor` seen as dense, with its dimensions in this order, the first outermost.
void lay_out(const Tensor& tensor, const Shape& sizes, const DimOrder& order) {
  Shape strides(sizes.dims(), 0);
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= sizes[order[i]];
  }
  TensorImpl& impl = *tensor.impl();
  impl.sizes = sizes;
  impl.strides = strides;
  impl.numel = sizes.numel();
  impl.is_contiguous = are_contiguous(sizes, strides);
}

/// One plan along `dims`: what it copies lives as long as it runs, and `out` is laid out by it.
void run_plan(const Tensor& out, const Tensor& input, const Shape& out_sizes,
              const DimOrder& dims) {
  if (input.device().is_cuda()) {
    Context::current().slot(input.device()).assumptions.add(Assumption::cufft_workspace);
  }
  const std::size_t batch_dims = static_cast<std::size_t>(input.dims()) - dims.size();
  const DimOrder order = plan_order(input, dims);
  const Tensor batched = batched_input(input, order, batch_dims);
  Shape signal = batched.shape();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const int at = static_cast<int>(i) + 1;
    signal[at] = std::max(signal[at], out_sizes[dims[i]]);
  }
  const Tensor copied =
      must_be_copied(batched, signal) ? empty(batched.shape(), options_of(batched)) : Tensor();
  lay_out(out, out_sizes, order);
}

/// The innermost of `left`, which are taken out, as many as a plan transforms.
DimOrder taken_by_plan(DimOrder& left, const Tensor& working) {
  sort_by_stride(left.begin(), left.end(), working);
  const auto count = std::min<std::ptrdiff_t>(kPlanDims, std::ssize(left));
  DimOrder taken(left.end() - count, left.end());
  left.resize(left.size() - taken.size());
  return taken;
}

/// Whether a real side and all dimensions are one plan.
bool is_one_plan(const DimOrder& dims) {
  const bool starts_outermost = dims.size() >= 2 && dims[0] == 0 && dims[1] == 1;
  return std::ssize(dims) <= kPlanDims && !starts_outermost;
}

/// A tensor as complex numbers lie: cuFFT reads pairs of real ones.
Tensor aligned_pairs(const Tensor& input, int last_dim) {
  if (input.offset_bytes() % (2 * item_bytes(input.dtype())) == 0) return input;
  DimOrder order;
  for (int dim = 0; dim < input.dims(); ++dim) {
    if (dim != last_dim) order.push_back(dim);
  }
  order.push_back(last_dim);
  Tensor copy = empty(input.shape(), options_of(input));
  lay_out(copy, input.shape(), order);
  copy_into(copy, input);
  return copy;
}

Tensor complex_plans(const Tensor& input, const DimOrder& dims) {
  Tensor out = empty(input.shape(), options_of(input));
  Tensor working = input;
  DimOrder left = dims;
  while (true) {
    run_plan(out, working, input.shape(), taken_by_plan(left, working));
    if (left.empty()) return out;
    if (working.is_same(input)) {
      working = std::move(out);
      out = empty(input.shape(), options_of(input));
    } else {
      std::swap(out, working);
    }
  }
}

Tensor row_major_copy(const Tensor& input) {
  Tensor copy = empty(input.shape(), options_of(input));
  copy_into(copy, input);
  return copy;
}

DType complex_dtype_of(const Tensor& real) {
  return real.dtype() == DType::float64 ? DType::complex128 : DType::complex64;
}

/// Several plans: the last dimension, then the others. What is returned has the halved sizes.
Tensor real_plans(const Tensor& input, const DimOrder& dims, const Shape& half, const Shape& full) {
  const TensorOptions options{complex_dtype_of(input), input.device()};
  Tensor out = empty(full, options);
  Tensor working = aligned_pairs(input, dims.back());
  if (is_one_plan(dims)) {
    run_plan(out, working, full, dims);
    return out;
  }
  run_plan(out, working, half, {dims.back()});
  working = empty(full, options);
  DimOrder left(dims.begin(), dims.end() - 1);
  while (!left.empty()) {
    std::swap(out, working);
    run_plan(out, working, half, taken_by_plan(left, working));
  }
  if (!(half == full)) {
    DimOrder plain(static_cast<std::size_t>(full.dims()));
    std::iota(plain.begin(), plain.end(), 0);
    lay_out(working, full, plain);
    return working;
  }
  return out;
}

// ---- what is computed ---------------------------------------------------------------------------

FourierArray array_of(const Tensor& tensor) {
  FourierArray array{tensor.shape(), {}};
  const std::vector<double> numbers = to_doubles(tensor);
  if (!is_complex(tensor.dtype())) {
    array.values.assign(numbers.begin(), numbers.end());
    return array;
  }
  for (std::size_t i = 0; i < numbers.size(); i += 2) {
    array.values.emplace_back(numbers[i], numbers[i + 1]);
  }
  return array;
}

void transform(FourierArray& array, const Shape& dims, FourierDirection direction) {
  for (const std::int64_t dim : dims) {
    transform_lines(array, static_cast<int>(dim), direction == FourierDirection::inverse);
  }
}

void store(const Tensor& out, const FourierArray& array, double scale) {
  const bool has_parts = is_complex(out.dtype());
  std::vector<double> numbers;
  for (const std::complex<double>& value : array.values) {
    numbers.push_back(value.real() * scale);
    if (has_parts) numbers.push_back(value.imag() * scale);
  }
  const Tensor target = has_parts ? parts_of(out) : out;
  visit_floating(target.dtype(), [&]<class T>(TypeTag<T>) {
    T* const elements = target.data<T>();
    const double* next = numbers.data();
    for_each_offset(target.shape(), target.strides(),
                    [&](std::int64_t offset) { elements[offset] = convert_element<T>(*next++); });
  });
}

}  // namespace

Tensor fourier_of_complex(const Tensor& given, const FourierSpec& spec,
                          FourierDirection direction) {
  const Tensor input = unconjugated(given);
  if (spec.dims.empty()) return copy_of(input);
  Tensor out = complex_plans(input, ints_of(spec.dims));
  if (!out.has_values()) return out;
  FourierArray array = array_of(input);
  transform(array, spec.dims, direction);
  store(out, array, spec.scale);
  return out;
}

Tensor fourier_of_real(const Tensor& input, const FourierSpec& spec, bool is_onesided) {
  const int last = static_cast<int>(spec.dims.back());
  Shape half = input.shape();
  half[last] = half[last] / 2 + 1;
  Tensor out = real_plans(input, ints_of(spec.dims), half, is_onesided ? half : input.shape());
  if (!out.has_values()) return out;
  FourierArray array = array_of(input);
  transform(array, spec.dims, FourierDirection::forward);
  store(out, is_onesided ? halved(array, last) : array, spec.scale);
  return out;
}

Tensor fourier_to_real(const Tensor& given, const FourierSpec& spec, std::int64_t last_size) {
  const Tensor input = unconjugated(given);
  const DimOrder dims = ints_of(spec.dims);
  const int last = dims.back();
  Shape sizes = input.shape();
  sizes[last] = last_size;
  Tensor out = empty(sizes, {part_dtype(input.dtype()), input.device()});
  const bool is_one = is_one_plan(dims);
  // cuFFT writes over what it transforms to real numbers.
  const Tensor working =
      is_one ? row_major_copy(input) : complex_plans(input, {dims.begin(), dims.end() - 1});
  run_plan(out, working, sizes, is_one ? dims : DimOrder{last});
  if (!out.has_values()) return out;
  FourierArray array = array_of(input);
  Shape others = spec.dims;
  others.erase(others.dims() - 1);
  transform(array, others, FourierDirection::inverse);
  FourierArray whole = mirrored(array, last, last_size);
  transform_lines(whole, last, true);
  store(out, whole, spec.scale);
  return out;
}

}  // namespace ohm::ops
