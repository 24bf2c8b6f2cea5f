#include "runtime/ops/convolution/sequence.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/recorder.h"
#include "runtime/ops/convolution/conv.h"
#include "runtime/ops/convolution/conv_sizes.h"
#include "runtime/ops/convolution/conv_transpose.h"
#include "runtime/ops/op_front.h"
#include "runtime/ops/pooling/average_pool.h"
#include "runtime/ops/shape/rearrange.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kConv1d{"conv1d", CastPolicy::low_precision};
constexpr OpInfo kConvTranspose1d{"conv_transpose1d", CastPolicy::low_precision};
constexpr OpInfo kMaxPool1d{"max_pool1d"};
constexpr OpInfo kAvgPool1d{"avg_pool1d"};
constexpr OpInfo kAdaptiveAvgPool1d{"adaptive_avg_pool1d"};

void require_lines(const OpInfo& info, const Tensor& input) {
  if (input.dims() == 2 || input.dims() == 3) return;
  throw std::invalid_argument(
      fmt::format("[{}] expected [N, C, L] or [C, L], but got {}", info.name, input.shape().str()));
}

// A size along the line, and `across` for the one row there is.
Shape pair(const OpInfo& info, const Shape& size, std::int64_t across, const char* name) {
  if (size.dims() != 1) {
    throw std::invalid_argument(
        fmt::format("[{}] {} must be one size, not {}", info.name, name, size.str()));
  }
  return {across, size[0]};
}
std::optional<Shape> pair(const OpInfo& info, const std::optional<Shape>& size, std::int64_t across,
                          const char* name) {
  if (!size || size->empty()) return std::nullopt;
  return pair(info, *size, across, name);
}

Tensor as_image(const Tensor& lines) { return unsqueeze(lines, -2); }
Tensor as_rows(const Tensor& image) { return squeeze(image, -2); }

void require_line_filters(const OpInfo& info, const Tensor& weight, const char* expected) {
  if (weight.dims() == 3) return;
  throw std::invalid_argument(fmt::format("[{}] 'weight' must be {}, but got {}", info.name,
                                          expected, weight.shape().str()));
}

}  // namespace

Tensor conv1d(const Tensor& given, const Tensor& given_weight,
              const std::optional<Tensor>& given_bias, const Shape& stride, const Shape& padding,
              const Shape& dilation, std::int64_t groups) {
  const OpFront front(kConv1d);
  const std::optional<Tensor> bias = front.input(given_bias);
  const Tensor weight = front.input(given_weight);
  const Tensor input = front.input(given);
  require_lines(kConv1d, input);
  require_line_filters(kConv1d, weight, "[out, in, k]");
  return conv2d_of_lines(input, weight, bias, pair(kConv1d, stride, 1, "stride"),
                         pair(kConv1d, padding, 0, "padding"),
                         pair(kConv1d, dilation, 1, "dilation"), groups);
}

Tensor conv1d_with_padding(const Tensor& given, const Tensor& given_weight,
                           const std::optional<Tensor>& given_bias, const Shape& stride,
                           const SizesOrWord& padding, const Shape& dilation, std::int64_t groups) {
  if (const Shape* sizes = std::get_if<Shape>(&padding)) {
    return conv1d(given, given_weight, given_bias, stride, *sizes, dilation, groups);
  }
  const OpFront front(kConv1d);
  const std::optional<Tensor> bias = front.input(given_bias);
  const Tensor weight = front.input(given_weight);
  const Tensor input = front.input(given);
  require_line_filters(kConv1d, weight, "[out, in, k]");
  const NamedPadding named =
      named_padding(kConv1d, std::get<std::string>(padding), weight.shape(), stride, dilation);
  const Tensor rows = named.one_side.empty() ? input : pad(input, named.one_side, "constant", 0.0);
  return conv1d(rows, weight, bias, stride, named.both_sides, dilation, groups);
}

Tensor conv_transpose1d(const Tensor& given, const Tensor& given_weight,
                        const std::optional<Tensor>& given_bias, const Shape& stride,
                        const Shape& padding, const Shape& output_padding, std::int64_t groups,
                        const Shape& dilation) {
  const OpFront front(kConvTranspose1d);
  const std::optional<Tensor> bias = front.input(given_bias);
  const Tensor weight = front.input(given_weight);
  const Tensor input = front.input(given);
  require_lines(kConvTranspose1d, input);
  require_line_filters(kConvTranspose1d, weight, "[in, out, k]");
  return conv_transpose2d_of_lines(input, weight, bias, pair(kConvTranspose1d, stride, 1, "stride"),
                                   pair(kConvTranspose1d, padding, 0, "padding"),
                                   pair(kConvTranspose1d, output_padding, 0, "output_padding"),
                                   groups, pair(kConvTranspose1d, dilation, 1, "dilation"));
}

PooledMaxima max_pool1d_with_indices(const Tensor& input, const Shape& kernel_size,
                                     const std::optional<Shape>& stride, const Shape& padding,
                                     const Shape& dilation, bool ceil_mode) {
  const OpFront front(kMaxPool1d);
  require_lines(kMaxPool1d, input);
  const auto [maxima, indices] = max_pool2d_with_indices(
      as_image(input), pair(kMaxPool1d, kernel_size, 1, "kernel_size"),
      pair(kMaxPool1d, stride, 1, "stride"), pair(kMaxPool1d, padding, 0, "padding"),
      pair(kMaxPool1d, dilation, 1, "dilation"), ceil_mode);
  return {as_rows(maxima), as_rows(indices)};
}

Tensor max_pool1d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, const Shape& dilation, bool ceil_mode) {
  return max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode).first;
}

Tensor avg_pool1d(const Tensor& input, const Shape& kernel_size, const std::optional<Shape>& stride,
                  const Shape& padding, bool ceil_mode, bool count_include_pad) {
  const OpFront front(kAvgPool1d);
  require_lines(kAvgPool1d, input);
  return as_rows(avg_pool2d(as_image(input), pair(kAvgPool1d, kernel_size, 1, "kernel_size"),
                            pair(kAvgPool1d, stride, 1, "stride"),
                            pair(kAvgPool1d, padding, 0, "padding"), ceil_mode, count_include_pad,
                            std::nullopt));
}

Tensor adaptive_avg_pool1d(const Tensor& input, const Shape& output_size) {
  const OpFront front(kAdaptiveAvgPool1d);
  require_lines(kAdaptiveAvgPool1d, input);
  return as_rows(adaptive_avg_pool2d(as_image(input),
                                     pair(kAdaptiveAvgPool1d, output_size, 1, "output_size")));
}

std::vector<OpDef> sequence_ops() {
  const ParamName padding{"padding", Shape{0}};
  const ParamName dilation{"dilation", Shape{1}};
  const ParamName ceil_mode{"ceil_mode", false};
  return {
      define(kConv1d, kFunction | kCppFunctional, &conv1d_with_padding,
             {"input",
              "weight",
              "bias",
              {"stride", Shape{1}},
              padding,
              dilation,
              {"groups", std::int64_t{1}}}),
      define(kConvTranspose1d, kFunction | kCppFunctional, &conv_transpose1d,
             {"input",
              "weight",
              "bias",
              {"stride", Shape{1}},
              padding,
              {"output_padding", Shape{0}},
              {"groups", std::int64_t{1}},
              dilation}),
      define(kMaxPool1d, kFunction | kFunctional, &max_pool_row<&max_pool1d_with_indices>,
             {"input",
              "kernel_size",
              "stride",
              padding,
              dilation,
              ceil_mode,
              {"return_indices", false}}),
      define(kAvgPool1d, kFunction | kCppFunctional, &avg_pool1d,
             {"input", "kernel_size", "stride", padding, ceil_mode, {"count_include_pad", true}}),
      define(kAdaptiveAvgPool1d, kFunction | kCppFunctional, &adaptive_avg_pool1d,
             {"input", "output_size"}),
  };
}

}  // namespace ohm::ops
