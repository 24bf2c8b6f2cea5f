#include "runtime/tensor/complex_parts.h"

namespace ohm {
namespace {

Tensor view_in(const Tensor& tensor, DType dtype, const Shape& sizes, const Shape& strides,
               std::int64_t offset) {
  Tensor view = make_view(tensor, sizes, strides, offset);
  view.impl()->dtype = dtype;
  view.impl()->is_conjugated = false;
  return view;
}

Shape doubled(const Shape& strides) {
  Shape result;
  for (const std::int64_t stride : strides) result.push_back(2 * stride);
  return result;
}

}  // namespace

Tensor parts_of(const Tensor& tensor) {
  Shape sizes = tensor.shape();
  Shape strides = doubled(tensor.strides());
  sizes.push_back(2);
  strides.push_back(1);
  return view_in(tensor, part_dtype(tensor.dtype()), sizes, strides, 2 * tensor.impl()->offset);
}

Tensor part_of(const Tensor& tensor, int part) {
  return view_in(tensor, part_dtype(tensor.dtype()), tensor.shape(), doubled(tensor.strides()),
                 2 * tensor.impl()->offset + part);
}

Tensor complex_of_parts(const Tensor& parts) {
  Shape sizes;
  Shape strides;
  for (int dim = 0; dim + 1 < parts.dims(); ++dim) {
    sizes.push_back(parts.shape()[dim]);
    strides.push_back(parts.strides()[dim] / 2);
  }
  const DType dtype = parts.dtype() == DType::float64 ? DType::complex128 : DType::complex64;
  return view_in(parts, dtype, sizes, strides, parts.impl()->offset / 2);
}

Tensor conjugated_view(const Tensor& tensor) {
  Tensor view = make_view(tensor, tensor.shape(), tensor.strides(), tensor.impl()->offset);
  view.impl()->is_conjugated = !tensor.impl()->is_conjugated;
  return view;
}

}  // namespace ohm
