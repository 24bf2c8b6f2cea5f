#include "runtime/tensor/tensor.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ohm {
// Out of line: inlined, g++ takes the counts of a tensor's parts for reads after its end.
void TensorImpl::destroy(TensorImpl* impl) { delete impl; }

std::int64_t Tensor::size(std::int64_t dim) const {
  if (dims() == 0) throw std::invalid_argument("[size] a 0-dim tensor has no dimensions");
  return shape()[wrap_dim(dim, dims(), "size")];
}

bool Tensor::is_dense() const {
  if (is_contiguous()) return true;
  Shape order(dims(), 0);
  std::vector<int> by_stride(static_cast<std::size_t>(dims()));
  std::iota(by_stride.begin(), by_stride.end(), 0);
  std::stable_sort(by_stride.begin(), by_stride.end(),
                   [&](int a, int b) { return strides()[a] > strides()[b]; });
  Shape sizes;
  Shape ordered_strides;
  for (const int dim : by_stride) {
    sizes.push_back(shape()[dim]);
    ordered_strides.push_back(strides()[dim]);
  }
  return are_contiguous(sizes, ordered_strides);
}

double Tensor::item() const {
  if (numel() != 1) {
    throw std::invalid_argument(
        fmt::format("[item] a tensor with {} elements cannot be converted to a number", numel()));
  }
  if (!has_values()) return std::numeric_limits<double>::quiet_NaN();
  return visit_dtype(dtype(), [&]<class T>(TypeTag<T>) {
    T value{};
    storage().peek(&value, offset_bytes(), sizeof value);
    return convert_element<double>(value);
  });
}

Tensor make_view(const Tensor& base, const Shape& sizes, const Shape& strides,
                 std::int64_t offset) {
  IntrusivePtr<TensorImpl> impl(new TensorImpl());
  impl->storage = base.impl()->storage;
  impl->sizes = sizes;
  impl->strides = strides;
  impl->offset = offset;
  impl->numel = sizes.numel();
  impl->dtype = base.dtype();
  impl->is_contiguous = are_contiguous(sizes, strides);
  impl->is_view = true;
  impl->own_version = base.impl()->own_version;
  return Tensor(std::move(impl));
}

Tensor reshaped_copy(const Tensor& fresh, const Shape& sizes) {
  Tensor result = make_view(fresh, sizes, contiguous_strides(sizes), fresh.impl()->offset);
  result.impl()->is_view = false;
  return result;
}

Tensor detached_alias(const Tensor& tensor) {
  Tensor alias = make_view(tensor, tensor.shape(), tensor.strides(), tensor.impl()->offset);
  alias.impl()->is_view = false;  // it shares elements, and keeps no base
  return alias;
}

std::string describe(const Tensor& tensor) {
  return fmt::format("{} {} on {}", name_of(tensor.dtype()), tensor.shape().str(),
                     tensor.device().str());
}

}  // namespace ohm
