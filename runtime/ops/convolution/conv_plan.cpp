#include "runtime/ops/convolution/conv_plan.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/ops/convolution/conv_sizes.h"
#include "runtime/ops/convolution/cuda/convolution.h"
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
// channels lie last, and for float16 images, enough channels, and square strides without dilation
// alone.
bool is_beyond_cudnn(const Tensor& input, const Tensor& weight, const ConvGeometry& g) {
  if (library_format(input, weight) != MemoryFormat::row_major) return false;
  if (g.is_of_volumes) return true;
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
  // Of volumes it has no kernel without dilation.
  const bool is_dilated = g.is_of_volumes || g.dilation_height > 1 || g.dilation_width > 1;
  if (is_depthwise) return ConvPath::depthwise;
  return is_dilated ? ConvPath::dilated_columns : ConvPath::columns;
}

}  // namespace

void set_windows(const OpInfo& info, ConvGeometry& g, const Tensor& weight,
                 const ConvWindows& windows) {
  const int dims = weight.dims() - 2;
  require_sizes(info, dims, windows.stride, 1, "stride");
  require_sizes(info, dims, windows.padding, 0, "padding");
  require_sizes(info, dims, windows.dilation, 1, "dilation");
  g.is_of_volumes = dims == 3;
  if (g.is_of_volumes) {
    g.kernel_depth = weight.shape()[2];
    g.stride_depth = size_at(windows.stride, 0);
    g.padding_depth = size_at(windows.padding, 0);
    g.dilation_depth = size_at(windows.dilation, 0);
  }
  const int height = dims - 2;
  const int width = dims - 1;
  g.kernel_height = weight.size(-2);
  g.kernel_width = weight.size(-1);
  g.stride_height = size_at(windows.stride, height);
  g.stride_width = size_at(windows.stride, width);
  g.padding_height = size_at(windows.padding, height);
  g.padding_width = size_at(windows.padding, width);
  g.dilation_height = size_at(windows.dilation, height);
  g.dilation_width = size_at(windows.dilation, width);
}

ConvPlan conv_plan(const OpInfo& info, const Tensor& input, const Tensor& weight,
                   const ConvWindows& windows, std::int64_t groups) {
  ConvPlan plan;
  ConvGeometry& g = plan.geometry;
  set_windows(info, g, weight, windows);
  g.batch = input.shape()[0];
  g.groups = groups;
  g.in_channels = weight.shape()[1];
  g.out_channels = weight.shape()[0] / groups;
  if (g.is_of_volumes) {
    g.in_depth = input.shape()[2];
    g.out_depth = out_size(info, g.in_depth, g.kernel_depth, g.stride_depth, g.padding_depth,
                           g.dilation_depth);
  }
  g.in_height = input.size(-2);
  g.in_width = input.size(-1);
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

Shape shape_of_output(const ConvGeometry& g) {
  const std::int64_t channels = g.groups * g.out_channels;
  if (!g.is_of_volumes) return {g.batch, channels, g.out_height, g.out_width};
  return {g.batch, channels, g.out_depth, g.out_height, g.out_width};
}

Shape shape_of_input(const ConvGeometry& g) {
  const std::int64_t channels = g.groups * g.in_channels;
  if (!g.is_of_volumes) return {g.batch, channels, g.in_height, g.in_width};
  return {g.batch, channels, g.in_depth, g.in_height, g.in_width};
}

}  // namespace ohm::ops
