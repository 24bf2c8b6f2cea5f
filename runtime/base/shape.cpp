#include "runtime/base/shape.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "runtime/base/refusal.h"

namespace ohm {
namespace {

void check_dims(int dims) {
  if (dims > kMaxDims) {
    refuse(fmt::format("a tensor has at most {} dimensions, not {}", kMaxDims, dims));
  }
}

/// Of the dimension that lies outside of this one.
std::int64_t next_stride(const Shape& shape, int dim, std::int64_t stride) {
  const std::int64_t size = std::max<std::int64_t>(shape[dim], 1);
  std::int64_t next = 0;
  if (__builtin_mul_overflow(stride, size, &next)) {
    refuse(fmt::format("the strides of {} do not fit in 64 bits", shape.str()));
  }
  return next;
}

}  // namespace

Shape::Shape(std::initializer_list<std::int64_t> sizes) {
  for (const std::int64_t size : sizes) push_back(size);
}

Shape::Shape(int count, std::int64_t value) {
  check_dims(count);
  dims_ = count;
  std::fill_n(sizes_.begin(), count, value);
}

void Shape::push_back(std::int64_t size) {
  check_dims(dims_ + 1);
  sizes_[static_cast<std::size_t>(dims_++)] = size;
}

void Shape::insert(int position, std::int64_t size) {
  push_back(size);
  std::rotate(sizes_.begin() + position, sizes_.begin() + dims_ - 1, sizes_.begin() + dims_);
}

void Shape::erase(int position) {
  std::copy(sizes_.begin() + position + 1, sizes_.begin() + dims_, sizes_.begin() + position);
  --dims_;
}

std::int64_t Shape::numel() const {
  // A zero anywhere makes the tensor empty, whatever the other sizes would multiply to.
  if (std::find(begin(), end(), 0) != end()) return 0;
  std::int64_t product = 1;
  for (const std::int64_t size : *this) {
    if (__builtin_mul_overflow(product, size, &product)) {
      refuse(fmt::format("the number of elements of {} does not fit in 64 bits", str()));
    }
  }
  return product;
}

std::string Shape::str() const {
  std::string text = "[";
  for (int i = 0; i < dims_; ++i) text += fmt::format("{}{}", i == 0 ? "" : ", ", (*this)[i]);
  return text + "]";
}

bool operator==(const Shape& a, const Shape& b) {
  return a.dims_ == b.dims_ && std::equal(a.begin(), a.end(), b.begin());
}

Shape contiguous_strides(const Shape& shape) {
  Shape strides(shape.dims(), 1);
  for (int i = shape.dims() - 2; i >= 0; --i) {
    strides[i] = next_stride(shape, i + 1, strides[i + 1]);
  }
  return strides;
}

bool are_contiguous(const Shape& sizes, const Shape& strides) {
  std::int64_t expected = 1;
  for (int i = sizes.dims() - 1; i >= 0; --i) {
    if (sizes[i] == 0) return true;
    if (sizes[i] == 1) continue;
    if (strides[i] != expected) return false;
    expected *= sizes[i];
  }
  return true;
}

Shape dense_strides(const Shape& shape, std::span<const Shape> operands) {
  // From the innermost dimension outwards, by insertion: a dimension moves inwards past those of a
  // larger stride, and is not compared with repeated ones.
  const int dims = shape.dims();
  const auto comes_after = [&](int a, int b) {
    for (const Shape& strides : operands) {
      if (strides[a] == 0 || strides[b] == 0) continue;
      if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
      if (shape[a] > shape[b]) return 1;
    }
    return 0;
  };
  std::vector<int> order(static_cast<std::size_t>(dims));
  for (int i = 0; i < dims; ++i) order[static_cast<std::size_t>(i)] = dims - 1 - i;
  for (std::size_t i = 1; i < order.size(); ++i) {
    std::size_t moving = i;
    for (std::size_t other = i; other-- > 0;) {
      const int verdict = comes_after(order[other], order[moving]);
      if (verdict < 0) break;
      if (verdict == 0) continue;
      std::swap(order[other], order[moving]);
      moving = other;
    }
  }
  Shape dense(dims, 0);
  std::int64_t stride = 1;
  for (const int dim : order) {
    dense[dim] = stride;
    stride = next_stride(shape, dim, stride);
  }
  return dense;
}

int wrap_dim(std::int64_t dim, int dims, const char* op) {
  const std::int64_t range = std::max(dims, 1);
  if (dim < -range || dim >= range) {
    throw std::invalid_argument(
        fmt::format("[{}] dimension out of range (expected to be in range of [{}, {}], but got {})",
                    op, -range, range - 1, dim));
  }
  return static_cast<int>(dim < 0 ? dim + range : dim);
}

Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op) {
  const Shape& longer = a.dims() >= b.dims() ? a : b;
  const Shape& shorter = a.dims() >= b.dims() ? b : a;
  Shape result = longer;
  const int offset = longer.dims() - shorter.dims();
  for (int i = 0; i < shorter.dims(); ++i) {
    const std::int64_t size = shorter[i];
    std::int64_t& target = result[offset + i];
    if (target == 1) {
      target = size;
    } else if (size != 1 && size != target) {
      throw std::invalid_argument(
          fmt::format("[{}] shapes do not broadcast: {} and {}", op, a.str(), b.str()));
    }
  }
  return result;
}

}  // namespace ohm
