#include "runtime/base/strided.h"

namespace ohm {

Shape broadcast_strides(const Shape& sizes, const Shape& strides, const Shape& shape) {
  const int missing = shape.dims() - sizes.dims();
  Shape result(shape.dims(), 0);
  for (int dim = 0; dim < sizes.dims(); ++dim) {
    if (sizes[dim] == shape[missing + dim]) result[missing + dim] = strides[dim];
  }
  return result;
}

template <std::size_t N>
void visit_rows(const Shape& shape, const std::array<Shape, N>& strides, RowVisitor<N> visit) {
  const std::int64_t numel = shape.numel();
  if (numel == 0) return;
  Offsets<N> offsets{};
  const int last = shape.dims() - 1;
  if (last < 0) {
    visit(offsets, 1);
    return;
  }
  Shape index(shape.dims(), 0);
  for (std::int64_t done = 0; done < numel; done += shape[last]) {
    visit(offsets, shape[last]);
    for (int dim = last - 1; dim >= 0; --dim) {
      ++index[dim];
      const bool is_done = index[dim] == shape[dim];
      for (std::size_t k = 0; k < N; ++k) {
        offsets[k] += is_done ? strides[k][dim] * (1 - shape[dim]) : strides[k][dim];
      }
      if (!is_done) break;
      index[dim] = 0;
    }
  }
}

template void visit_rows<1>(const Shape&, const std::array<Shape, 1>&, RowVisitor<1>);
template void visit_rows<2>(const Shape&, const std::array<Shape, 2>&, RowVisitor<2>);
template void visit_rows<3>(const Shape&, const std::array<Shape, 3>&, RowVisitor<3>);
template void visit_rows<4>(const Shape&, const std::array<Shape, 4>&, RowVisitor<4>);

}  // namespace ohm
