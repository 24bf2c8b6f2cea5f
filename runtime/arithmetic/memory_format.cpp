#include "runtime/arithmetic/memory_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

namespace ohm {
namespace {

constexpr int kImageDims = 4;
constexpr int kVolumeDims = 5;

int dims_of(MemoryFormat format) {
  return format == MemoryFormat::channels_last ? kImageDims : kVolumeDims;
}

bool is_of_images_or_volumes(const Shape& shape) {
  return shape.dims() == kImageDims || shape.dims() == kVolumeDims;
}

// The dimensions of [N, C, H, W] or [N, C, D, H, W] with the channels last, from the innermost to
// the outermost.
class InnermostFirst {
 public:
  explicit InnermostFirst(const Shape& shape)
      : first_(shape.dims() == kVolumeDims ? kOfVolumes.data() : kOfImages.data()),
        count_(shape.dims()) {}

  const int* begin() const { return first_; }
  const int* end() const { return first_ + count_; }

 private:
  static constexpr std::array<int, 4> kOfImages = {1, 3, 2, 0};
  static constexpr std::array<int, 5> kOfVolumes = {1, 4, 3, 2, 0};
  const int* first_;
  int count_;
};

Shape channels_last_strides(const Shape& shape) {
  Shape strides(shape.dims(), 1);
  std::int64_t stride = 1;
  for (const int dim : InnermostFirst(shape)) {
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
  if (!is_of_images_or_volumes(sizes) || strides[1] == 0) return MemoryFormat::row_major;
  std::int64_t least = 0;
  for (const int dim : InnermostFirst(sizes)) {
    if (sizes[dim] == 0 || strides[dim] < least) return MemoryFormat::row_major;
    // Neither order is told from the other where there is one channel and one pixel.
    if (dim == 0 && least == strides[1]) return MemoryFormat::row_major;
    least = strides[dim] * std::max<std::int64_t>(sizes[dim], 1);
  }
  return sizes.dims() == kImageDims ? MemoryFormat::channels_last : MemoryFormat::channels_last_3d;
}

MemoryFormat common_memory_format(const std::vector<Tensor>& tensors) {
  const bool are_last = std::all_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) {
    return memory_format_of(tensor) != MemoryFormat::row_major;
  });
  return are_last ? memory_format_of(tensors[0]) : MemoryFormat::row_major;
}

bool lies_in(const Tensor& tensor, MemoryFormat format) {
  if (format == MemoryFormat::row_major) return tensor.is_contiguous();
  if (tensor.dims() != dims_of(format)) return false;
  const Shape wanted = channels_last_strides(tensor.shape());
  const auto fits = [&](int dim) {
    return tensor.shape()[dim] == 1 || tensor.strides()[dim] == wanted[dim];
  };
  const InnermostFirst dims(tensor.shape());
  return std::all_of(dims.begin(), dims.end(), fits);
}

Shape strides_in(MemoryFormat format, const Shape& shape) {
  if (format == MemoryFormat::row_major) return contiguous_strides(shape);
  if (shape.dims() == dims_of(format)) return channels_last_strides(shape);
  throw std::invalid_argument(
      fmt::format("[memory_format] {} is of tensors of {} dimensions, not of {}",
                  kMemoryFormats[static_cast<std::size_t>(format)],
                  dims_of(format) == kImageDims ? "four" : "five", shape.str()));
}

}  // namespace ohm
