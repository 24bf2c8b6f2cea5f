#include "runtime/ops/convolution/conv.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/autograd/recorder.h"
#include "runtime/ops/convolution/conv_passes.h"
#include "runtime/ops/convolution/conv_sizes.h"
#include "runtime/ops/convolution/conv_twice.h"
#include "runtime/ops/shape/rearrange.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kConv2d{"conv2d", CastPolicy::low_precision};
constexpr OpInfo kConv3d{"conv3d", CastPolicy::low_precision};

/// What is convolved.
struct ConvKind {
  const OpInfo& info;
  int dims;  ///< of one image
  bool is_of_lines = false;
};
constexpr ConvKind kLines{kConv2d, 2, true};
constexpr ConvKind kImages{kConv2d, 2};
constexpr ConvKind kVolumes{kConv3d, 3};

void check_operands(const ConvKind& kind, const Tensor& input, const Tensor& weight,
                    const Tensor& bias, std::int64_t groups) {
  require_images(kind.info, kind.dims, input, weight, bias, groups);
  if (input.shape()[1] != weight.shape()[1] * groups) {
    throw std::invalid_argument(
        fmt::format("[{}] Given groups={}, weight of size {}, expected input{} to have {} "
                    "channels, but got "
                    "{} channels instead",
                    kind.info.name, groups, weight.shape().str(), input.shape().str(),
                    weight.shape()[1] * groups, input.shape()[1]));
  }
  require_bias(kind.info, weight, bias, weight.shape()[0]);
}

TensorList backward(const ConvPlan& plan, const BackwardCall& call) {
  const WantedGradients wanted{call.needs(0), call.needs(1), call.needs(2)};
  if (!plan.is_of_lines) {
    return convolution_gradients(plan, wanted, call.grad(), call.saved(0), call.saved(1));
  }
  TensorList grads = convolution_gradients(plan, wanted, with_row(call.grad()),
                                           with_row(call.saved(0)), with_row(call.saved(1)));
  for (std::size_t i = 0; i < 2; ++i) {
    if (grads[i].defined()) grads[i] = without_row(grads[i]);
  }
  return grads;
}

ConvolutionShape convolution_shape(const ConvKind& kind, const ConvWindows& windows,
                                   std::int64_t groups) {
  return {for_each_dim(windows.stride, kind.dims), for_each_dim(windows.padding, kind.dims),
          for_each_dim(windows.dilation, kind.dims), groups, kind.is_of_lines};
}

Tensor convolve_batch(const ConvKind& kind, const Tensor& given, const Tensor& given_weight,
                      const Tensor& given_bias, const ConvWindows& windows, std::int64_t groups) {
  const OpFront front(kind.info);
  const Tensor bias = given_bias.defined() ? front.input(given_bias) : Tensor();
  const Tensor weight = front.input(given_weight);
  const Tensor input = front.input(given);
  const Tensor images = kind.is_of_lines ? with_row(input) : input;
  const Tensor filters = kind.is_of_lines ? with_row(weight) : weight;
  check_operands(kind, images, filters, bias, groups);
  const ConvolutionShape shape = convolution_shape(kind, windows, groups);
  ConvPlan plan = conv_plan(kind.info, images, filters, windows, groups);
  plan.is_of_lines = kind.is_of_lines;
  Recorder record("ConvolutionBackward", {&input, &weight, &bias});
  record.save(input);
  record.save(weight);
  Tensor out = kind.is_of_lines ? without_row(convolved(plan, row_major(images), filters, bias))
                                : convolved(plan, images, filters, bias);
  record.attach_differentiable(out, [plan, shape](BackwardCall& call) {
    if (!call.is_recorded()) return backward(plan, call);
    return recorded_convolution_backward(
        call, [&] { return backward(plan, call); },
        [shape](const LayerGradients& incoming, const ConvolutionOperands& operands) {
          return second_gradients(shape, incoming, operands);
        });
  });
  return out;
}

Tensor convolve(const ConvKind& kind, const Tensor& input, const Tensor& weight,
                const std::optional<Tensor>& bias, const ConvWindows& windows,
                std::int64_t groups) {
  const bool is_one_image = input.dims() == kind.dims + (kind.is_of_lines ? 0 : 1);
  const Tensor images = is_one_image ? unsqueeze(input, 0) : input;
  Tensor out = convolve_batch(kind, images, weight, bias.value_or(Tensor()), windows, groups);
  return is_one_image ? squeeze(out, 0) : out;
}

// Padding by name: where one side needs a zero more than the other, the input is copied with it.
Tensor convolve_padded(const ConvKind& kind, const Tensor& given, const Tensor& given_weight,
                       const std::optional<Tensor>& given_bias, const Shape& stride,
                       const SizesOrWord& padding, const Shape& dilation, std::int64_t groups) {
  if (const Shape* sizes = std::get_if<Shape>(&padding)) {
    return convolve(kind, given, given_weight, given_bias, {stride, *sizes, dilation}, groups);
  }
  const OpFront front(kind.info);
  const std::optional<Tensor> bias = front.input(given_bias);
  const Tensor weight = front.input(given_weight);
  const Tensor input = front.input(given);
  const NamedPadding named =
      named_padding(kind.info, std::get<std::string>(padding), weight.shape(), stride, dilation);
  const Tensor images =
      named.one_side.empty() ? input : pad(input, named.one_side, "constant", 0.0);
  return convolve(kind, images, weight, bias, {stride, named.both_sides, dilation}, groups);
}

}  // namespace

Tensor convolved_again(const Tensor& input, const Tensor& weight, const ConvolutionShape& shape) {
  const ConvKind& of_images = shape.is_of_lines ? kLines : kImages;
  const ConvKind& kind = shape.stride.dims() == 3 ? kVolumes : of_images;
  return convolve_batch(kind, input, weight, Tensor(),
                        {shape.stride, shape.padding, shape.dilation}, shape.groups);
}

Tensor conv2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
              const Shape& stride, const Shape& padding, const Shape& dilation,
              std::int64_t groups) {
  return convolve(kImages, input, weight, bias, {stride, padding, dilation}, groups);
}

Tensor conv2d_of_lines(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                       const Shape& stride, const Shape& padding, const Shape& dilation,
                       std::int64_t groups) {
  return convolve(kLines, input, weight, bias, {stride, padding, dilation}, groups);
}

Tensor conv2d_with_padding(const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, const Shape& stride,
                           const SizesOrWord& padding, const Shape& dilation, std::int64_t groups) {
  return convolve_padded(kImages, input, weight, bias, stride, padding, dilation, groups);
}

Tensor conv3d_with_padding(const Tensor& input, const Tensor& weight,
                           const std::optional<Tensor>& bias, const Shape& stride,
                           const SizesOrWord& padding, const Shape& dilation, std::int64_t groups) {
  return convolve_padded(kVolumes, input, weight, bias, stride, padding, dilation, groups);
}

std::vector<OpDef> conv_ops() {
  const std::vector<ParamName> params = {"input",
                                         "weight",
                                         "bias",
                                         {"stride", Shape{1}},
                                         {"padding", Shape{0}},
                                         {"dilation", Shape{1}},
                                         {"groups", std::int64_t{1}}};
  return {
      define(kConv2d, kFunction | kCppFunctional, &conv2d_with_padding, params),
      define(kConv3d, kFunction | kCppFunctional, &conv3d_with_padding, params),
  };
}

}  // namespace ohm::ops
