#include "runtime/ops/complex_kernel.h"

#include <cmath>
#include <complex>
#include <vector>

#include "runtime/arithmetic/complex_copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/base/strided.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/elementwise.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/tensor/complex_parts.h"

namespace ohm::ops {
namespace {

template <class T>
using Line = std::vector<std::complex<T>>;

/// Calls fn(TypeTag<T>) with the type of the parts of `dtype`.
template <class F>
void visit_parts(DType dtype, F&& fn) {
  visit_computed(part_dtype(dtype), fn);
}

/// The elements of an operand as those of a tensor of `shape`, in row-major order.
template <class T>
Line<T> line_of(const Tensor& tensor, const Shape& shape) {
  Line<T> line;
  line.reserve(static_cast<std::size_t>(shape.numel()));
  const Shape strides = broadcast_strides(tensor.shape(), tensor.strides(), shape);
  const auto read = [&](const auto* stored, auto convert) {
    for_each_offset(shape, strides,
                    [&](std::int64_t offset) { line.push_back(convert(stored[offset])); });
  };
  const auto read_complex = [&]<class S>(TypeTag<S>) {
    read(tensor.data<const std::complex<S>>(),
         [](const std::complex<S>& x) { return std::complex<T>(x); });
  };
  if (is_complex(tensor.dtype())) {
    visit_parts(tensor.dtype(), read_complex);
  } else {
    visit_dtype(tensor.dtype(), [&]<class S>(TypeTag<S>) {
      read(tensor.data<const S>(), [](S x) { return std::complex<T>(convert_element<T>(x)); });
    });
  }
  return line;
}

template <class T>
Line<T> line_of(const TensorOrNumber& operand, const Shape& shape) {
  if (const Tensor* tensor = std::get_if<Tensor>(&operand)) return line_of<T>(*tensor, shape);
  const auto number = static_cast<T>(number_of(operand));
  return Line<T>(static_cast<std::size_t>(shape.numel()), std::complex<T>(number));
}

/// out[i] = line[i], in row-major order.
template <class Element, class T>
void store(const Tensor& out, const std::vector<T>& line) {
  auto* const elements = out.data<Element>();
  const T* next = line.data();
  for_each_offset(out.shape(), out.strides(),
                  [&](std::int64_t offset) { elements[offset] = *next++; });
}

template <class T>
std::complex<T> computed(ComplexFormula formula, std::complex<T> a, std::complex<T> b, T scale) {
  if (formula == ComplexFormula::sum) return a + scale * b;
  return formula == ComplexFormula::product ? a * b : a / b;
}

void compute(const Tensor& out, const TensorOrNumber& a, const TensorOrNumber& b,
             ComplexFormula formula, double scale) {
  if (!out.has_values()) return;
  visit_parts(out.dtype(), [&]<class T>(TypeTag<T>) {
    Line<T> line = line_of<T>(a, out.shape());
    const Line<T> other = line_of<T>(b, out.shape());
    for (std::size_t i = 0; i < line.size(); ++i) {
      line[i] = computed(formula, line[i], other[i], static_cast<T>(scale));
    }
    store<std::complex<T>>(out, line);
  });
}

TensorOrNumber resolved(const TensorOrNumber& operand) {
  const Tensor* const tensor = std::get_if<Tensor>(&operand);
  return tensor == nullptr ? operand : TensorOrNumber(unconjugated(*tensor));
}

TensorOrNumber conjugate_of(const TensorOrNumber& operand) {
  const Tensor* const tensor = std::get_if<Tensor>(&operand);
  if (tensor == nullptr || !is_complex(tensor->dtype())) return operand;
  return conjugated_view(*tensor);
}

Tensor empty_as(const Tensor& input, DType dtype) {
  return empty_for_loop(input.shape(), {&input}, {dtype, input.device()});
}

/// fn of each element of a complex tensor in `out`, of complex elements or of parts.
template <class F>
void map_complex(const Tensor& out, const Tensor& input, F fn) {
  if (!out.has_values()) return;
  visit_parts(input.dtype(), [&]<class T>(TypeTag<T>) {
    using Result = decltype(fn(std::complex<T>()));
    std::vector<Result> results;
    for (const std::complex<T>& element : line_of<T>(input, out.shape())) {
      results.push_back(fn(element));
    }
    store<Result>(out, results);
  });
}

Tensor pairs_mapped(const OpInfo& info, const Tensor& a, const Tensor& b, bool is_polar) {
  const DType dtype = a.dtype() == DType::float64 ? DType::complex128 : DType::complex64;
  Tensor out = empty_for(a, b, dtype, info);
  if (!out.has_values()) return out;
  visit_parts(dtype, [&]<class T>(TypeTag<T>) {
    Line<T> line = line_of<T>(a, out.shape());
    const Line<T> other = line_of<T>(b, out.shape());
    for (std::size_t i = 0; i < line.size(); ++i) {
      const T x = line[i].real();
      const T y = other[i].real();
      line[i] =
          is_polar ? std::complex<T>(x * std::cos(y), x * std::sin(y)) : std::complex<T>(x, y);
    }
    store<std::complex<T>>(out, line);
  });
  return out;
}

}  // namespace

Tensor complex_new(const OpInfo& info, const TensorOrNumber& a, const TensorOrNumber& b,
                   DType dtype, ComplexFormula formula, double scale) {
  const TensorOrNumber first = resolved(a);
  const TensorOrNumber second = resolved(b);
  const bool starts_with_number = is_number(first);
  Tensor out = empty_for(tensor_of(starts_with_number ? second : first),
                         starts_with_number ? first : second, dtype, info);
  compute(out, first, second, formula, scale);
  return out;
}

void complex_inplace(const Tensor& a, const TensorOrNumber& b, ComplexFormula formula,
                     double scale) {
  // What is made of conjugates is the conjugate of what is made.
  if (a.impl()->is_conjugated) {
    return complex_inplace(conjugated_view(a), conjugate_of(b), formula, scale);
  }
  compute(a, a, resolved(b), formula, scale);
}

Tensor complex_negated(const Tensor& given) {
  const Tensor input = unconjugated(given);
  Tensor out = empty_as(input, input.dtype());
  map_elements(parts_of(out), part_dtype(input.dtype()), functors::Neg(), parts_of(input));
  return out;
}

Tensor complex_turned(const Tensor& given) {
  const Tensor input = unconjugated(given);
  Tensor out = empty_as(input, input.dtype());
  map_complex(out, input, []<class T>(const std::complex<T>& x) {
    return std::complex<T>(-x.imag(), x.real());
  });
  return out;
}

Tensor complex_signs(const Tensor& given) {
  const Tensor input = unconjugated(given);
  Tensor out = empty_as(input, input.dtype());
  map_complex(out, input, []<class T>(const std::complex<T>& x) {
    return x == std::complex<T>() ? x : x / std::abs(x);
  });
  return out;
}

// PyTorch's kernel writes complex numbers, which are copied to the result.
Tensor complex_absolute(const Tensor& given) {
  const Tensor input = unconjugated(given);
  Tensor out = empty_as(input, part_dtype(input.dtype()));
  const Tensor complex = empty_as(input, input.dtype());
  map_complex(out, input, [](const auto& x) { return std::abs(x); });
  return out;
}

Tensor complex_angle(const Tensor& given) {
  const Tensor input = unconjugated(given);
  const Tensor complex = empty_as(input, input.dtype());
  Tensor out = empty_as(input, part_dtype(input.dtype()));
  map_complex(out, input, [](const auto& x) { return std::arg(x); });
  return out;
}

Tensor complex_of(const OpInfo& info, const Tensor& real, const Tensor& imaginary) {
  return pairs_mapped(info, real, imaginary, false);
}

Tensor complex_of_polar(const OpInfo& info, const Tensor& absolute, const Tensor& angle) {
  return pairs_mapped(info, absolute, angle, true);
}

}  // namespace ohm::ops
