#include "runtime/ops/conv_plan.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/ops/conv_sizes.h"
#include "runtime/ops/cuda/convolution.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

std::int64_t out_size(const OpInfo& info, std::int64_t in, std::int64_t kernel, std::int64_t stride,
                      std::int64_t padding, std::int64_t dilation) {
  const std::int64_t padded = in + 2 * padding;
  const std::int64_t reach = dilation * (kernel - 1) + 1;
  if (padded < reach) {
    throw std::invalid_argument(
        fmt::format("[{}] Kernel size can't be greater than actual input size: the padded "
                    "input has {} elements, the kernel reaches over {}",
                    info.name, padded, reach));
  }
  return (padded - reach) / stride + 1;
}

// PyTorch's own kernel for one channel in each group is preferred to cuDNN's, which it takes where
// channels lie last, and for float16, enough channels, and square strides without dilation alone.
bool is_beyond_cudnn(const Tensor& input, const Tensor& weight, const ConvGeometry& g) {
  if (library_format(input, weight) == MemoryFormat::channels_last) return false;
  constexpr std::int64_t kFewestChannels = 32;
  const bool is_plain = g.dilation_height == 1 && g.dilation_width == 1 &&
                        (g.stride_height == g.stride_width || g.in_height == 1);
  return !(input.dtype() == DType::float16 && g.groups >= kFewestChannels && is_plain);
}

ConvPath path_for(const Tensor& input, const Tensor& weight, const ConvGeometry& g) {
  const bool is_depthwise = g.groups > 1 && g.in_channels == 1;
  if (input.device().is_cpu()) return ConvPath::library;
  Context& context = Context::current();
  if (context.cudnn_enabled && !(is_depthwise && is_beyond_cudnn(input, weight, g))) {
    assume_no_workspace(context.slot(input.device()));
    return ConvPath::library;
  }
  const bool is_dilated = g.dilation_height > 1 || g.dilation_width > 1;
  if (is_depthwise) return ConvPath::depthwise;
  return is_dilated ? ConvPath::dilated_columns : ConvPath::columns;
}

}  // namespace

ConvPlan conv_plan(const OpInfo& info, const Tensor& input, const Tensor& weight,
                   const Shape& stride, const Shape& padding, const Shape& dilation,
                   std::int64_t groups) {
  require_pair(info, stride, 1, "stride");
  require_pair(info, padding, 0, "padding");
  require_pair(info, dilation, 1, "dilation");
  ConvPlan plan;
  ConvGeometry& g = plan.geometry;
  g.batch = input.shape()[0];
  g.groups = groups;
  g.in_channels = weight.shape()[1];
  g.out_channels = weight.shape()[0] / groups;
  g.in_height = input.shape()[2];
  g.in_width = input.shape()[3];
  g.kernel_height = weight.shape()[2];
  g.kernel_width = weight.shape()[3];
  g.stride_height = size_at(stride, 0);
  g.stride_width = size_at(stride, 1);
  g.padding_height = size_at(padding, 0);
  g.padding_width = size_at(padding, 1);
  g.dilation_height = size_at(dilation, 0);
  g.dilation_width = size_at(dilation, 1);
  g.out_height = out_size(info, g.in_height, g.kernel_height, g.stride_height, g.padding_height,
                          g.dilation_height);
  g.out_width =
      out_size(info, g.in_width, g.kernel_width, g.stride_width, g.padding_width, g.dilation_width);
  plan.path = path_for(input, weight, g);
  return plan;
}

bool is_unfolded(const ConvPlan& plan) {
  return plan.path == ConvPath::columns || plan.path == ConvPath::dilated_columns;
}

bool is_split_in_groups(const ConvPlan& plan) {
  return plan.geometry.groups > 1 && is_unfolded(plan);
}

ConvPlan plan_of_one_group(ConvPlan plan) {
  plan.geometry.groups = 1;
  return plan;
}

Shape shape_of_result(const ConvGeometry& g) {
  return {g.batch, g.groups * g.out_channels, g.out_height, g.out_width};
}

}  // namespace ohm::ops
