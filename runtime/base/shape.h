// Sizes and strides of tensors: at most eight dimensions, kept in place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace ohm {

inline constexpr int kMaxDims = 8;

/// A short list of int64: the sizes of a tensor (never negative), or its strides in elements.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes);
  /// `count` entries of `value`. Throws std::invalid_argument beyond kMaxDims.
  Shape(int count, std::int64_t value);

  int dims() const { return dims_; }
  bool empty() const { return dims_ == 0; }

  std::int64_t operator[](int i) const { return sizes_[static_cast<std::size_t>(i)]; }
  std::int64_t& operator[](int i) { return sizes_[static_cast<std::size_t>(i)]; }
  const std::int64_t* begin() const { return sizes_.data(); }
  const std::int64_t* end() const { return sizes_.data() + dims_; }
  std::int64_t back() const { return sizes_[static_cast<std::size_t>(dims_ - 1)]; }

  /// Throws std::invalid_argument beyond kMaxDims.
  void push_back(std::int64_t size);
  void insert(int position, std::int64_t size);
  void erase(int position);

  /// Product of all entries; 1 without any. Throws std::invalid_argument when it does not fit.
  std::int64_t numel() const;

  /// "[2, 3]", as PyTorch prints sizes.
  std::string str() const;

  friend bool operator==(const Shape& a, const Shape& b);

 private:
  std::array<std::int64_t, kMaxDims> sizes_{};
  int dims_ = 0;
};

/// Strides of a row-major tensor without gaps.
Shape contiguous_strides(const Shape& shape);

/// Whether elements with these sizes and strides lie in row-major order without gaps: the strides
/// of dimensions of size 1 do not matter.
bool are_contiguous(const Shape& sizes, const Shape& strides);

/// Strides without gaps that keep the order of the dimensions in memory which the operands of a
/// loop over `shape` have, each given by its strides there: the first one that tells two dimensions
/// apart decides. Repeated dimensions (stride 0) stay where they are among their neighbours.
Shape dense_strides(const Shape& shape, std::span<const Shape> operands);

/// `dim` counted from the end when negative, checked against `dims` (a scalar counts as one
/// dimension). Throws std::invalid_argument("[op] dimension out of range …").
int wrap_dim(std::int64_t dim, int dims, const char* op);

/// The shape of `a op b` under broadcasting. Throws std::invalid_argument naming both shapes.
Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op);

}  // namespace ohm
