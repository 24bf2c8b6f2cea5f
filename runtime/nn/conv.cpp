#include "runtime/nn/conv.h"

#include <fmt/core.h>

#include <cmath>
#include <stdexcept>

#include "runtime/ops/conv.h"
#include "runtime/ops/conv_transpose.h"
#include "runtime/ops/sequence.h"

namespace ohm::nn {

namespace {

void check(std::string_view module, std::int64_t in_channels, std::int64_t out_channels,
           const ConvOptions& options) {
  const Shape& kernel = options.kernel_size;
  const bool is_divisible =
      options.groups > 0 && in_channels % options.groups == 0 && out_channels % options.groups == 0;
  if (in_channels <= 0 || out_channels <= 0 || !is_divisible) {
    throw std::invalid_argument(
        fmt::format("[{}] {} in and {} out channels must be positive and divisible by groups ({})",
                    module, in_channels, out_channels, options.groups));
  }
  if (kernel.dims() < 1 || kernel.dims() > 2 || kernel[0] <= 0 || kernel.back() <= 0) {
    throw std::invalid_argument(fmt::format(
        "[{}] kernel_size must be one or two positive sizes, not {}", module, kernel.str()));
  }
}

// Filters [from, to, kH, kW], and how far from zero they and the bias start.
struct Filters {
  Shape shape;
  double bound;

  Filters(std::int64_t from, std::int64_t to, const Shape& kernel)
      : shape{from, to, kernel[0], kernel.back()},
        bound(1.0 / std::sqrt(static_cast<double>(to * kernel[0] * kernel.back()))) {}
};

}  // namespace

Conv1d::Conv1d(std::int64_t in_channels, std::int64_t out_channels, const ConvOptions& options,
               const ParameterOptions& parameters)
    : options_(options) {
  check("Conv1d", in_channels, out_channels, options);
  if (options.kernel_size.dims() != 1) {
    throw std::invalid_argument(
        fmt::format("[Conv1d] kernel_size must be one size, not {}", options.kernel_size.str()));
  }
  const std::int64_t width = options.kernel_size[0];
  const std::int64_t inputs = in_channels / options.groups;
  const double bound = 1.0 / std::sqrt(static_cast<double>(inputs * width));
  add_parameter("weight", uniform_parameter({out_channels, inputs, width}, bound, parameters));
  add_parameter("bias",
                options.has_bias ? uniform_parameter({out_channels}, bound, parameters) : Tensor());
}

Tensor Conv1d::apply(const Tensor& input) {
  return ops::conv1d(input, own_parameter(0), if_defined(own_parameter(1)), options_.stride,
                     options_.padding, options_.dilation, options_.groups);
}

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, const ConvOptions& options,
               const ParameterOptions& parameters)
    : options_(options) {
  check("Conv2d", in_channels, out_channels, options);
  const Filters filters(out_channels, in_channels / options.groups, options.kernel_size);
  add_parameter("weight", uniform_parameter(filters.shape, filters.bound, parameters));
  add_parameter("bias", options.has_bias
                            ? uniform_parameter({out_channels}, filters.bound, parameters)
                            : Tensor());
}

Tensor Conv2d::apply(const Tensor& input) {
  return ops::conv2d(input, own_parameter(0), if_defined(own_parameter(1)), options_.stride,
                     options_.padding, options_.dilation, options_.groups);
}

ConvTranspose2d::ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels,
                                 const ConvTranspose2dOptions& options,
                                 const ParameterOptions& parameters)
    : options_(options) {
  check("ConvTranspose2d", in_channels, out_channels, options);
  const Filters filters(in_channels, out_channels / options.groups, options.kernel_size);
  add_parameter("weight", uniform_parameter(filters.shape, filters.bound, parameters));
  add_parameter("bias", options.has_bias
                            ? uniform_parameter({out_channels}, filters.bound, parameters)
                            : Tensor());
}

Tensor ConvTranspose2d::apply(const Tensor& input) {
  return ops::conv_transpose2d(input, own_parameter(0), if_defined(own_parameter(1)),
                               options_.stride, options_.padding, options_.output_padding,
                               options_.groups, options_.dilation);
}

}  // namespace ohm::nn
