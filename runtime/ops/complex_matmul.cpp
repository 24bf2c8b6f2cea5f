#include "runtime/ops/complex_matmul.h"

#include <complex>

#include "runtime/kernels/launch/host_values.h"

namespace ohm::ops {
namespace {

/// A matrix, or a batch of them, by its strides.
template <class T>
struct ComplexMatrices {
  T* elements;
  std::int64_t batch_stride;
  std::int64_t row_stride;
  std::int64_t column_stride;
  bool is_conjugated;

  T at(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    const T element = place(batch, row, column);
    return is_conjugated ? std::conj(element) : element;
  }
  T& place(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    return elements[batch * batch_stride + row * row_stride + column * column_stride];
  }
};

template <class T>
ComplexMatrices<T> matrices_of(const Tensor& tensor, T* elements) {
  const int dims = tensor.dims();
  return {elements, dims == 3 ? tensor.strides()[0] : 0, tensor.strides()[dims - 2],
          tensor.strides().back(), tensor.impl()->is_conjugated};
}

template <class T>
void multiply_complex(const Tensor& a, const Tensor& b, const Tensor& out, bool adds_to_out) {
  using Element = std::complex<T>;
  // Read alone: their memory stays where it is valid.
  const auto left = matrices_of<Element>(a, const_cast<Element*>(a.data<const Element>()));
  const auto right = matrices_of<Element>(b, const_cast<Element*>(b.data<const Element>()));
  const auto result = matrices_of<Element>(out, out.data<Element>());
  const std::int64_t batches = out.dims() == 3 ? out.shape()[0] : 1;
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    for (std::int64_t row = 0; row < out.size(-2); ++row) {
      for (std::int64_t column = 0; column < out.size(-1); ++column) {
        Element sum;
        for (std::int64_t k = 0; k < a.size(-1); ++k) {
          sum += left.at(batch, row, k) * right.at(batch, k, column);
        }
        Element& place = result.place(batch, row, column);
        place = adds_to_out ? place + sum : sum;
      }
    }
  }
}

}  // namespace

void complex_matrix_product(const Tensor& a, const Tensor& b, const Tensor& out, bool adds_to_out) {
  visit_computed(part_dtype(out.dtype()),
                 [&]<class T>(TypeTag<T>) { multiply_complex<T>(a, b, out, adds_to_out); });
}

}  // namespace ohm::ops
