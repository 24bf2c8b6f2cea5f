#include "runtime/nn/conv.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/ops/conv.h"
#include "runtime/ops/conv_transpose.h"
#include "runtime/ops/rearrange.h"
#include "runtime/ops/sequence.h"

namespace ohm::nn {

namespace {

template <class Options>
void check(std::string_view module, std::int64_t in_channels, std::int64_t out_channels,
           const Options& options) {
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

void require_line_kernel(std::string_view module, const Shape& kernel) {
  if (kernel.dims() == 1) return;
  throw std::invalid_argument(
      fmt::format("[{}] kernel_size must be one size, not {}", module, kernel.str()));
}

void check_padding(std::string_view module, const ConvOptions& options) {
  const std::string& mode = options.padding_mode;
  if (mode != "zeros" && mode != "reflect" && mode != "replicate" && mode != "circular") {
    throw std::invalid_argument(
        fmt::format("[{}] padding_mode must be one of zeros, reflect, replicate and circular, not "
                    "\"{}\"",
                    module, mode));
  }
  const auto* word = std::get_if<std::string>(&options.padding);
  if (word == nullptr) return;
  if (*word != "same" && *word != "valid") {
    throw std::invalid_argument(fmt::format(
        "[{}] Invalid padding string '{}', should be one of valid, same", module, *word));
  }
  const bool is_strided = std::any_of(options.stride.begin(), options.stride.end(),
                                      [](std::int64_t stride) { return stride != 1; });
  if (*word == "same" && is_strided) {
    throw std::invalid_argument(
        fmt::format("[{}] padding='same' is not supported for strided convolutions", module));
  }
}

// The padding of `dims` dimensions as ops::pad() takes it: the last dimension's first.
Shape pairs_of(const ConvOptions& options, int dims) {
  const auto of_dim = [](const Shape& sizes, int dim) {
    return sizes[sizes.dims() == 1 ? 0 : dim];
  };
  const auto* sizes = std::get_if<Shape>(&options.padding);
  const bool is_valid = sizes == nullptr && std::get<std::string>(options.padding) == "valid";
  Shape pairs(2 * dims, 0);
  for (int pair = 0; pair < dims && !is_valid; ++pair) {
    const int dim = dims - 1 - pair;
    if (sizes != nullptr) {
      pairs[2 * pair] = pairs[2 * pair + 1] = of_dim(*sizes, dim);
      continue;
    }
    const std::int64_t total =
        of_dim(options.dilation, dim) * (of_dim(options.kernel_size, dim) - 1);
    pairs[2 * pair] = total / 2;
    pairs[2 * pair + 1] = total - total / 2;
  }
  return pairs;
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
  check_padding("Conv1d", options);
  require_line_kernel("Conv1d", options.kernel_size);
  const std::int64_t width = options.kernel_size[0];
  const std::int64_t inputs = in_channels / options.groups;
  const double bound = 1.0 / std::sqrt(static_cast<double>(inputs * width));
  add_parameter("weight", uniform_parameter({out_channels, inputs, width}, bound, parameters));
  add_parameter("bias",
                options.has_bias ? uniform_parameter({out_channels}, bound, parameters) : Tensor());
}

Tensor Conv1d::apply(const Tensor& input) {
  const auto convolve = [&](const Tensor& lines, const ops::SizesOrWord& padding) {
    return ops::conv1d_with_padding(lines, own_parameter(0), if_defined(own_parameter(1)),
                                    options_.stride, padding, options_.dilation, options_.groups);
  };
  if (options_.padding_mode == "zeros") return convolve(input, options_.padding);
  return convolve(ops::pad(input, pairs_of(options_, 1), options_.padding_mode, 0.0), Shape{0});
}

Conv2d::Conv2d(std::int64_t in_channels, std::int64_t out_channels, const ConvOptions& options,
               const ParameterOptions& parameters)
    : options_(options) {
  check("Conv2d", in_channels, out_channels, options);
  check_padding("Conv2d", options);
  const Filters filters(out_channels, in_channels / options.groups, options.kernel_size);
  add_parameter("weight", uniform_parameter(filters.shape, filters.bound, parameters));
  add_parameter("bias", options.has_bias
                            ? uniform_parameter({out_channels}, filters.bound, parameters)
                            : Tensor());
}

Tensor Conv2d::apply(const Tensor& input) {
  const auto convolve = [&](const Tensor& images, const ops::SizesOrWord& padding) {
    return ops::conv2d_with_padding(images, own_parameter(0), if_defined(own_parameter(1)),
                                    options_.stride, padding, options_.dilation, options_.groups);
  };
  if (options_.padding_mode == "zeros") return convolve(input, options_.padding);
  return convolve(ops::pad(input, pairs_of(options_, 2), options_.padding_mode, 0.0), Shape{0});
}

ConvTranspose1d::ConvTranspose1d(std::int64_t in_channels, std::int64_t out_channels,
                                 const ConvTransposeOptions& options,
                                 const ParameterOptions& parameters)
    : options_(options) {
  check("ConvTranspose1d", in_channels, out_channels, options);
  require_line_kernel("ConvTranspose1d", options.kernel_size);
  const std::int64_t width = options.kernel_size[0];
  const std::int64_t outputs = out_channels / options.groups;
  const double bound = 1.0 / std::sqrt(static_cast<double>(outputs * width));
  add_parameter("weight", uniform_parameter({in_channels, outputs, width}, bound, parameters));
  add_parameter("bias",
                options.has_bias ? uniform_parameter({out_channels}, bound, parameters) : Tensor());
}

Tensor ConvTranspose1d::apply(const Tensor& input) {
  return ops::conv_transpose1d(input, own_parameter(0), if_defined(own_parameter(1)),
                               options_.stride, options_.padding, options_.output_padding,
                               options_.groups, options_.dilation);
}

ConvTranspose2d::ConvTranspose2d(std::int64_t in_channels, std::int64_t out_channels,
                                 const ConvTransposeOptions& options,
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
