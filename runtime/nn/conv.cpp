#include "runtime/nn/conv.h"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>

#include "runtime/ops/conv.h"

namespace ohm::nn {

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, const Conv2dOptions& options,
               const ParameterOptions& parameters)
    : options_(options) {
  const Shape& kernel = options.kernel_size;
  const bool is_divisible =
      options.groups > 0 && in_channels % options.groups == 0 && out_channels % options.groups == 0;
  if (in_channels <= 0 || out_channels <= 0 || !is_divisible) {
    throw std::invalid_argument(
        fmt::format("[Conv2d] {} in and {} out channels must be positive and divisible by groups "
                    "({})",
                    in_channels, out_channels, options.groups));
  }
  if (kernel.dims() < 1 || kernel.dims() > 2 || kernel[0] <= 0 || kernel.back() <= 0) {
    throw std::invalid_argument(fmt::format(
        "[Conv2d] kernel_size must be one or two positive sizes, not {}", kernel.str()));
  }
  const std::int64_t height = kernel[0];
  const std::int64_t width = kernel.back();
  const std::int64_t fan_in = in_channels / options.groups * height * width;
  const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
  const Shape shape{out_channels, in_channels / options.groups, height, width};
  add_parameter("weight", uniform_parameter(shape, bound, parameters));
  add_parameter("bias",
                options.has_bias ? uniform_parameter({out_channels}, bound, parameters) : Tensor());
}

Tensor Conv2d::apply(const Tensor& input) {
  const Tensor& bias = own_parameter(1);
  return ops::conv2d(input, own_parameter(0),
                     bias.defined() ? std::optional<Tensor>(bias) : std::nullopt, options_.stride,
                     options_.padding, options_.dilation, options_.groups);
}

}  // namespace ohm::nn
