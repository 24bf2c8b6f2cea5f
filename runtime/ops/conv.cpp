#include "runtime/ops/conv.h"

#include <fmt/core.h>

#include <stdexcept>
#include <utility>

#include "runtime/arithmetic/copy.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/ops/conv_passes.h"
#include "runtime/ops/conv_sizes.h"
#include "runtime/ops/conv_twice.h"
#include "runtime/ops/gradient_outputs.h"
#include "runtime/ops/rearrange.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kConv2d{"conv2d", CastPolicy::low_precision};

void check_operands(const Tensor& input, const Tensor& weight, const Tensor& bias,
                    std::int64_t groups) {
  require_images(kConv2d, input, weight, bias, groups);
  if (input.shape()[1] != weight.shape()[1] * groups) {
    throw std::invalid_argument(
        fmt::format("[conv2d] Given groups={}, weight of size {}, expected input{} to have {} "
                    "channels, but got "
                    "{} channels instead",
                    groups, weight.shape().str(), input.shape().str(), weight.shape()[1] * groups,
                    input.shape()[1]));
  }
  require_bias(kConv2d, weight, bias, weight.shape()[0]);
}

Shape both(const Shape& sizes) { return {size_at(sizes, 0), size_at(sizes, 1)}; }

TensorList backward(const ConvPlan& plan, const BackwardCall& call) {
  const WantedGradients wanted{call.needs(0), call.needs(1), call.needs(2)};
  return convolution_gradients(plan, wanted, call.grad(), call.saved(0), call.saved(1));
}

// As backward(), with a graph of PyTorch's second formula.
TensorList recorded_backward(const ConvPlan& plan, const SecondGradients& second,
                             const BackwardCall& call) {
  const Tensor input = call.saved(0);
  const Tensor weight = call.saved(1);
  Recorder record("ConvolutionBackwardBackward", {&call.grad(), &input, &weight});
  for (const Tensor& kept : {call.grad(), input, weight}) record.save(kept);
  TensorList grads;
  {
    const GradModeGuard no_graph(false);
    grads = backward(plan, call);
  }
  const LayerGradients made{grads[0], grads[1], grads[2]};
  const GradientOutputs outputs(made);
  record.attach_differentiable(outputs.of(made), [second, outputs](BackwardCall& again) {
    std::vector<Tensor> found =
        second(outputs.incoming(again), {again.saved(0), again.saved(1), again.saved(2)});
    TensorList result(3);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (again.needs(i)) result[i] = std::move(found[i]);
    }
    return result;
  });
  return grads;
}

Tensor convolved_again(const ConvPlan& plan, const Tensor& input, const Tensor& weight,
                       const ConvolutionShape& shape);

SecondGradients second_gradients_of(const ConvPlan& plan, const ConvolutionShape& shape) {
  return {shape, [plan](const Tensor& input, const Tensor& weight, const ConvolutionShape& as) {
            return convolved_again(plan, input, weight, as);
          }};
}

Tensor conv2d_batched(const Tensor& given, const Tensor& given_weight, const Tensor& given_bias,
                      const Shape& stride, const Shape& padding, const Shape& dilation,
                      std::int64_t groups, bool is_of_lines) {
  const OpFront front(kConv2d);
  const Tensor bias = given_bias.defined() ? front.input(given_bias) : Tensor();
  const Tensor weight = front.input(given_weight);
  const Tensor input = front.input(given);
  check_operands(input, weight, bias, groups);
  ConvPlan plan = conv_plan(kConv2d, input, weight, stride, padding, dilation, groups);
  plan.is_of_lines = is_of_lines;
  Recorder record("ConvolutionBackward", {&input, &weight, &bias});
  record.save(input);
  record.save(weight);
  Tensor out = convolved(plan, is_of_lines ? row_major(input) : input, weight, bias);
  const ConvolutionShape shape{both(stride), both(padding), both(dilation), groups};
  record.attach_differentiable(out, [plan, shape](BackwardCall& call) {
    return call.is_recorded() ? recorded_backward(plan, second_gradients_of(plan, shape), call)
                              : backward(plan, call);
  });
  return out;
}

Tensor convolved_again(const ConvPlan& plan, const Tensor& input, const Tensor& weight,
                       const ConvolutionShape& shape) {
  return conv2d_batched(input, weight, Tensor(), shape.stride, shape.padding, shape.dilation,
                        shape.groups, plan.is_of_lines);
}

}  // namespace

Tensor conv2d(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
              const Shape& stride, const Shape& padding, const Shape& dilation,
              std::int64_t groups) {
  const bool is_one_image = input.dims() == 3;
  const Tensor images = is_one_image ? unsqueeze(input, 0) : input;
  Tensor out = conv2d_batched(images, weight, bias.value_or(Tensor()), stride, padding, dilation,
                              groups, false);
  return is_one_image ? squeeze(out, 0) : out;
}

Tensor conv2d_with_padding(const Tensor& given, const Tensor& given_weight,
                           const std::optional<Tensor>& given_bias, const Shape& stride,
                           const SizesOrWord& padding, const Shape& dilation, std::int64_t groups) {
  if (const Shape* sizes = std::get_if<Shape>(&padding)) {
    return conv2d(given, given_weight, given_bias, stride, *sizes, dilation, groups);
  }
  const OpFront front(kConv2d);
  const std::optional<Tensor> bias = front.input(given_bias);
  const Tensor weight = front.input(given_weight);
  const Tensor input = front.input(given);
  const NamedPadding named =
      named_padding(kConv2d, std::get<std::string>(padding), weight.shape(), stride, dilation);
  const Tensor images =
      named.one_side.empty() ? input : pad(input, named.one_side, "constant", 0.0);
  return conv2d(images, weight, bias, stride, named.both_sides, dilation, groups);
}

Tensor conv2d_of_lines(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                       const Shape& stride, const Shape& padding, const Shape& dilation,
                       std::int64_t groups) {
  const bool is_one_image = input.dims() == 3;
  const Tensor images = is_one_image ? unsqueeze(input, 0) : input;
  Tensor out = conv2d_batched(images, weight, bias.value_or(Tensor()), stride, padding, dilation,
                              groups, true);
  return is_one_image ? squeeze(out, 0) : out;
}

namespace {

std::vector<Sample> convolutions() {
  const TensorOptions options{DType::float64, Device::cpu()};
  const auto tensor = [&](const Shape& shape) { return randn(shape, options); };
  const Value groups = std::int64_t{2};
  return {
      {tensor({2, 3, 5, 4}), tensor({2, 3, 3, 2}), tensor({2})},
      {tensor({1, 2, 6, 7}), tensor({3, 2, 3, 3}), tensor({3}), Shape{2, 3}, Shape{1, 2}},
      {tensor({2, 4, 5, 6}), tensor({6, 2, 2, 3}), Value(), Shape{1}, Shape{1}, Shape{2, 1},
       groups},
      {tensor({2, 3, 3, 4}), tensor({2, 3, 1, 1}), tensor({2})},
      {tensor({2, 5, 5}), tensor({2, 2, 2, 2}), tensor({2}), Shape{2}},
      {tensor({1, 2, 4, 5}), tensor({2, 2, 2, 3}), tensor({2}), Shape{1}, std::string("same")},
  };
}

}  // namespace

std::vector<OpDef> conv_ops() {
  return {define(kConv2d, kFunctional, &conv2d_with_padding,
                 {"input",
                  "weight",
                  "bias",
                  {"stride", Shape{1}},
                  {"padding", Shape{0}},
                  {"dilation", Shape{1}},
                  {"groups", std::int64_t{1}}},
                 convolutions)};
}

}  // namespace ohm::ops
