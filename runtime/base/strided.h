// Walks over strided tensors: one loop for every kernel that does not need contiguous memory.
//
// A row runs along the last dimension. The way from row to row is compiled once for each number of
// operands; what is done in a row is the caller's loop.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "runtime/base/shape.h"

namespace ohm {

/// Strides that read what has these sizes and strides as if it had `shape`. Pre-condition: it
/// broadcasts to it.
Shape broadcast_strides(const Shape& sizes, const Shape& strides, const Shape& shape);

/// The offset, in elements, of one element of each of N operands.
template <std::size_t N>
using Offsets = std::array<std::int64_t, N>;

/// A function of a row's first offsets and its number of elements. Borrowed: valid as long as the
/// function is.
template <std::size_t N>
class RowVisitor {
 public:
  template <class F>
  explicit RowVisitor(F& function)
      : function_(const_cast<std::remove_const_t<F>*>(std::addressof(function))),
        call_([](void* borrowed, const Offsets<N>& offsets, std::int64_t count) {
          (*static_cast<F*>(borrowed))(offsets, count);
        }) {}

  void operator()(const Offsets<N>& offsets, std::int64_t count) const {
    call_(function_, offsets, count);
  }

 private:
  void* function_;
  void (*call_)(void*, const Offsets<N>&, std::int64_t);
};

/// Visits the rows of `shape` in row-major order. A scalar is one row of one element.
template <std::size_t N>
void visit_rows(const Shape& shape, const std::array<Shape, N>& strides, RowVisitor<N> visit);

extern template void visit_rows<1>(const Shape&, const std::array<Shape, 1>&, RowVisitor<1>);
extern template void visit_rows<2>(const Shape&, const std::array<Shape, 2>&, RowVisitor<2>);
extern template void visit_rows<3>(const Shape&, const std::array<Shape, 3>&, RowVisitor<3>);
extern template void visit_rows<4>(const Shape&, const std::array<Shape, 4>&, RowVisitor<4>);

/// Calls `visit(offsets, count)` for each row.
template <std::size_t N, class F>
void for_each_row(const Shape& shape, const std::array<Shape, N>& strides, F&& visit) {
  visit_rows<N>(shape, strides, RowVisitor<N>(visit));
}

/// Calls `visit(offsets)` for each element in row-major order.
template <std::size_t N, class F>
void for_each_offsets(const Shape& shape, const std::array<Shape, N>& strides, F&& visit) {
  const int last = shape.dims() - 1;
  Offsets<N> steps{};
  for (std::size_t k = 0; last >= 0 && k < N; ++k) steps[k] = strides[k][last];
  for_each_row<N>(shape, strides, [&](Offsets<N> offsets, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      visit(offsets);
      for (std::size_t k = 0; k < N; ++k) offsets[k] += steps[k];
    }
  });
}

/// Calls `visit(offset)` for each element in row-major order, with its offset in elements.
template <class F>
void for_each_offset(const Shape& shape, const Shape& strides, F&& visit) {
  const int last = shape.dims() - 1;
  const std::int64_t step = last < 0 ? 0 : strides[last];
  for_each_row<1>(shape, {strides}, [&](const Offsets<1>& offsets, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) visit(offsets[0] + i * step);
  });
}

}  // namespace ohm
