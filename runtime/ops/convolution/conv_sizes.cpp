#include "runtime/ops/convolution/conv_sizes.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "runtime/ops/pointwise/binary_kernel.h"
#include "runtime/ops/pointwise/pointwise_kernel.h"

namespace ohm::ops {
namespace {

// Of a kernel, stride, padding or dilation: the arithmetic of sizes cannot overflow.
constexpr std::int64_t kLargestWindowSize = std::int64_t{1} << 24U;

[[noreturn]] void refuse_sizes(const OpInfo& info, const std::string& text) {
  throw std::invalid_argument(fmt::format("[{}] {}", info.name, text));
}

std::string type_of(const Tensor& tensor) {
  return std::string(info_of(tensor.dtype()).tensor_type);
}

}  // namespace

void require_pair(const OpInfo& info, const Shape& sizes, std::int64_t smallest, const char* name) {
  require_sizes(info, 2, sizes, smallest, name);
}

void require_sizes(const OpInfo& info, int dims, const Shape& sizes, std::int64_t smallest,
                   const char* name) {
  const bool is_known = sizes.dims() == 1 || sizes.dims() == dims;
  if (!is_known || *std::min_element(sizes.begin(), sizes.end()) < smallest) {
    refuse_sizes(info, fmt::format("{} must be one or {} integers of at least {}, but got {}", name,
                                   dims == 2 ? "two" : "three", smallest, sizes.str()));
  }
  if (*std::max_element(sizes.begin(), sizes.end()) > kLargestWindowSize) {
    refuse_sizes(info, fmt::format("{} must be at most {}, but got {}", name, kLargestWindowSize,
                                   sizes.str()));
  }
}

void require_images(const OpInfo& info, int dims, const Tensor& input, const Tensor& weight,
                    const Tensor& bias, std::int64_t groups) {
  if (input.dims() != dims + 2 || weight.dims() != dims + 2) {
    refuse_sizes(
        info, fmt::format("expected an input of {} or {} and a weight of {} dimensions, "
                          "but got {} and {}",
                          dims + 1, dims + 2, dims + 2, input.shape().str(), weight.shape().str()));
  }
  if (groups < 1 || weight.shape()[0] % groups != 0) {
    refuse_sizes(info,
                 fmt::format("groups must divide the {} channels of the weight's first dimension, "
                             "but got {}",
                             weight.shape()[0], groups));
  }
  if (input.dtype() != weight.dtype()) {
    refuse_sizes(info, fmt::format("Input type ({}) and weight type ({}) should be the same",
                                   type_of(input), type_of(weight)));
  }
  if (bias.defined() && bias.dtype() != input.dtype()) {
    refuse_sizes(info, fmt::format("Input type ({}) and bias type ({}) should be the same",
                                   type_of(input), type_of(bias)));
  }
  require_floating(input, info);
  require_same_device(input, weight, info);
  if (bias.defined()) require_same_device(input, bias, info);
}

void require_bias(const OpInfo& info, const Tensor& weight, const Tensor& bias,
                  std::int64_t out_channels) {
  if (!bias.defined() || bias.shape() == Shape{out_channels}) return;
  refuse_sizes(info, fmt::format("Given weight of size {}, expected bias to be [{}], but got {}",
                                 weight.shape().str(), out_channels, bias.shape().str()));
}

NamedPadding named_padding(const OpInfo& info, const std::string& name, const Shape& filters,
                           const Shape& stride, const Shape& dilation) {
  if (filters.dims() < 3) {
    refuse_sizes(info, fmt::format("filters of shape {} have no size", filters.str()));
  }
  NamedPadding padding{Shape(filters.dims() - 2, 0), {}};
  if (name == "valid") return padding;
  if (name != "same") refuse_sizes(info, fmt::format("Invalid padding string: '{}'", name));
  const int dims = padding.both_sides.dims();
  require_sizes(info, std::max(dims, 2), stride, 1, "stride");
  require_sizes(info, std::max(dims, 2), dilation, 1, "dilation");
  if (*std::max_element(stride.begin(), stride.end()) != 1) {
    refuse_sizes(info, "padding='same' is not supported for strided convolutions");
  }
  Shape one_side(2 * dims, 0);
  bool has_one_side = false;
  for (int dim = 0; dim < dims; ++dim) {
    const std::int64_t size = filters[dim + 2];
    if (size < 1 || size > kLargestWindowSize) {
      refuse_sizes(info,
                   fmt::format("filters of shape {} are too small or too large", filters.str()));
    }
    const std::int64_t total = size_at(dilation, dim) * (size - 1);
    padding.both_sides[dim] = total / 2;
    one_side[2 * (dims - 1 - dim) + 1] = total % 2;
    has_one_side = has_one_side || total % 2 != 0;
  }
  if (has_one_side) padding.one_side = one_side;
  return padding;
}

MemoryFormat library_format(const Tensor& first, const Tensor& second) {
  const auto is_last = [](const Tensor& operand) {
    return memory_format_of(operand) != MemoryFormat::row_major;
  };
  const bool is_known = first.device().is_cuda() && first.dtype() != DType::float64;
  if (!is_known || !(is_last(first) || is_last(second))) return MemoryFormat::row_major;
  return first.dims() == 4 ? MemoryFormat::channels_last : MemoryFormat::channels_last_3d;
}

Tensor with_row(const Tensor& lines) {
  Shape sizes = lines.shape();
  Shape strides = lines.strides();
  const int last = sizes.dims() - 1;
  strides.insert(last, sizes[last] * strides[last]);
  sizes.insert(last, 1);
  Tensor out = make_view(lines, sizes, strides, lines.impl()->offset);
  out.impl()->is_view = false;
  return out;
}

Tensor without_row(const Tensor& images) {
  Shape sizes = images.shape();
  Shape strides = images.strides();
  sizes.erase(sizes.dims() - 2);
  strides.erase(strides.dims() - 2);
  Tensor out = make_view(images, sizes, strides, images.impl()->offset);
  out.impl()->is_view = false;
  return out;
}

}  // namespace ohm::ops
