#include "runtime/arithmetic/memory_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace ohm {
namespace {

// The dimensions of [N, C, H, W] with the channels last, from the innermost to the outermost.
constexpr std::array<int, 4> kInnermostFirst = {1, 3, 2, 0};

Shape channels_last_strides(const Shape& shape) {
  Shape strides(shape.dims(), 1);
  std::int64_t stride = 1;
  for (const int dim : kInnermostFirst) {
    strides[dim] = stride;
    stride *= std::max<std::int64_t>(shape[dim], 1);
  }
  return strides;
}

}  // namespace

MemoryFormat parse_memory_format(std::string_view name) {
  const auto* const found = std::find(kMemoryFormats.begin(), kMemoryFormats.end(), name);
  if (found != kMemoryFormats.end()) {
    return static_cast<MemoryFormat>(found - kMemoryFormats.begin());
  }
  throw std::invalid_argument(fmt::format("[memory_format] none is called '{}': expected {}", name,
                                          fmt::join(kMemoryFormats, " or ")));
}

MemoryFormat memory_format_of(const Tensor& tensor) {
  const Shape& sizes = tensor.shape();
  const Shape& strides = tensor.strides();
  if (sizes.dims() != 4 || strides[1] == 0) return MemoryFormat::row_major;
  std::int64_t least = 0;
  for (const int dim : kInnermostFirst) {
    if (sizes[dim] == 0 || strides[dim] < least) return MemoryFormat::row_major;
    // Neither order is told from the other where there is one channel and one pixel.
    if (dim == 0 && least == strides[1]) return MemoryFormat::row_major;
    least = strides[dim] * std::max<std::int64_t>(sizes[dim], 1);
  }
  return MemoryFormat::channels_last;
}

bool lies_in(const Tensor& tensor, MemoryFormat format) {
  if (format == MemoryFormat::row_major) return tensor.is_contiguous();
  if (tensor.dims() != 4) return false;
  const Shape wanted = channels_last_strides(tensor.shape());
  const auto fits = [&](int dim) {
    return tensor.shape()[dim] == 1 || tensor.strides()[dim] == wanted[dim];
  };
  return std::all_of(kInnermostFirst.begin(), kInnermostFirst.end(), fits);
}

Shape strides_in(MemoryFormat format, const Shape& shape) {
  if (format == MemoryFormat::row_major) return contiguous_strides(shape);
  if (shape.dims() == static_cast<int>(kInnermostFirst.size())) return channels_last_strides(shape);
  throw std::invalid_argument(fmt::format(
      "[memory_format] channels_last is of tensors of four dimensions, not of {}", shape.str()));
}

}  // namespace ohm
