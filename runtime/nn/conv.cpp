#include "runtime/nn/conv.h"
#include "runtime/nn/new_parameter.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "runtime/ops/convolution/conv.h"
#include "runtime/ops/convolution/conv_transpose.h"
#include "runtime/ops/convolution/sequence.h"
#include "runtime/ops/shape/rearrange.h"

namespace ohm::nn {

namespace {

// "one size", "one or two positive sizes"
std::string sizes_wanted(int dims) {
  constexpr const char* kWanted[] = {"one size", "one or two positive sizes",
                                     "one or three positive sizes"};
  return kWanted[dims - 1];
}

template <class Kind, class Options>
void check(const Kind& kind, std::int64_t in_channels, std::int64_t out_channels,
           const Options& options) {
  const Shape& kernel = options.kernel_size;
  const bool is_divisible =
      options.groups > 0 && in_channels % options.groups == 0 && out_channels % options.groups == 0;
  if (in_channels <= 0 || out_channels <= 0 || !is_divisible) {
    throw std::invalid_argument(
        fmt::format("[{}] {} in and {} out channels must be positive and divisible by groups ({})",
                    kind.type_name, in_channels, out_channels, options.groups));
  }
  const bool is_known = kernel.dims() == 1 || kernel.dims() == kind.dims;
  const auto is_positive = [](std::int64_t size) { return size > 0; };
  if (!is_known || !std::all_of(kernel.begin(), kernel.end(), is_positive)) {
    throw std::invalid_argument(fmt::format("[{}] kernel_size must be {}, not {}", kind.type_name,
                                            sizes_wanted(kind.dims), kernel.str()));
  }
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

// Filters [from, to, k…], and how far from zero they and the bias start.
struct Filters {
  Shape shape;
  double bound;

  Filters(std::int64_t from, std::int64_t to, const Shape& kernel, int dims) : shape{from, to} {
    std::int64_t inputs = to;
    for (int dim = 0; dim < dims; ++dim) {
      shape.push_back(kernel[kernel.dims() == 1 ? 0 : dim]);
      inputs *= shape.back();
    }
    bound = 1.0 / std::sqrt(static_cast<double>(inputs));
  }
};

}  // namespace

const Conv::Kind Conv::k1d{"Conv1d", 1, &ops::conv1d_with_padding};
const Conv::Kind Conv::k2d{"Conv2d", 2, &ops::conv2d_with_padding};
const Conv::Kind Conv::k3d{"Conv3d", 3, &ops::conv3d_with_padding};

Conv::Conv(const Kind& kind, std::int64_t in_channels, std::int64_t out_channels,
           const ConvOptions& options, const ParameterOptions& parameters)
    : kind_(&kind), options_(options) {
  check(kind, in_channels, out_channels, options);
  check_padding(kind.type_name, options);
  const Filters filters(out_channels, in_channels / options.groups, options.kernel_size, kind.dims);
  add_parameter("weight", uniform_parameter(filters.shape, filters.bound, parameters));
  add_parameter("bias", options.has_bias
                            ? uniform_parameter({out_channels}, filters.bound, parameters)
                            : Tensor());
}

Tensor Conv::apply(const Tensor& input) {
  const auto convolve = [&](const Tensor& padded, const ops::SizesOrWord& padding) {
    return kind_->convolve(padded, own_parameter(0), if_defined(own_parameter(1)), options_.stride,
                           padding, options_.dilation, options_.groups);
  };
  if (options_.padding_mode == "zeros") return convolve(input, options_.padding);
  return convolve(ops::pad(input, pairs_of(options_, kind_->dims), options_.padding_mode, 0.0),
                  Shape{0});
}

const ConvTranspose::Kind ConvTranspose::k1d{"ConvTranspose1d", 1, &ops::conv_transpose1d};
const ConvTranspose::Kind ConvTranspose::k2d{"ConvTranspose2d", 2, &ops::conv_transpose2d};
const ConvTranspose::Kind ConvTranspose::k3d{"ConvTranspose3d", 3, &ops::conv_transpose3d};

ConvTranspose::ConvTranspose(const Kind& kind, std::int64_t in_channels, std::int64_t out_channels,
                             const ConvTransposeOptions& options,
                             const ParameterOptions& parameters)
    : kind_(&kind), options_(options) {
  check(kind, in_channels, out_channels, options);
  const Filters filters(in_channels, out_channels / options.groups, options.kernel_size, kind.dims);
  add_parameter("weight", uniform_parameter(filters.shape, filters.bound, parameters));
  add_parameter("bias", options.has_bias
                            ? uniform_parameter({out_channels}, filters.bound, parameters)
                            : Tensor());
}

Tensor ConvTranspose::apply(const Tensor& input) {
  return kind_->convolve(input, own_parameter(0), if_defined(own_parameter(1)), options_.stride,
                         options_.padding, options_.output_padding, options_.groups,
                         options_.dilation);
}

}  // namespace ohm::nn
