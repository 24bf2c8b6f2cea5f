#include "runtime/ops/conv_sizes.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/pointwise_kernel.h"

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
  const bool is_pair = sizes.dims() == 1 || sizes.dims() == 2;
  if (!is_pair || std::min(size_at(sizes, 0), size_at(sizes, 1)) < smallest) {
    refuse_sizes(info, fmt::format("{} must be one or two integers of at least {}, but got {}",
                                   name, smallest, sizes.str()));
  }
  if (std::max(size_at(sizes, 0), size_at(sizes, 1)) > kLargestWindowSize) {
    refuse_sizes(info, fmt::format("{} must be at most {}, but got {}", name, kLargestWindowSize,
                                   sizes.str()));
  }
}

void require_images(const OpInfo& info, const Tensor& input, const Tensor& weight,
                    const Tensor& bias, std::int64_t groups) {
  if (input.dims() != 4 || weight.dims() != 4) {
    refuse_sizes(info,
                 fmt::format("expected an input of 3 or 4 and a weight of 4 dimensions, but got {} "
                             "and {}",
                             input.shape().str(), weight.shape().str()));
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
  require_pair(info, stride, 1, "stride");
  require_pair(info, dilation, 1, "dilation");
  if (size_at(stride, 0) != 1 || size_at(stride, 1) != 1) {
    refuse_sizes(info, "padding='same' is not supported for strided convolutions");
  }
  const int dims = padding.both_sides.dims();
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
    return memory_format_of(operand) == MemoryFormat::channels_last;
  };
  const bool is_known = first.device().is_cuda() && first.dtype() != DType::float64;
  return is_known && (is_last(first) || is_last(second)) ? MemoryFormat::channels_last
                                                         : MemoryFormat::row_major;
}

}  // namespace ohm::ops
