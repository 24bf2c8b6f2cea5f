#include "runtime/ops/convolution/conv_twice.h"

#include <utility>

#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/conversion/convert.h"
#include "runtime/ops/gradient_outputs.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/shape/concat.h"
#include "runtime/ops/shape/slice.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

// The gradient of `grad`: the convolution of what came for the input's gradient with the weight, of
// the input with what came for the weight's, and what came for the bias's.
Tensor gradient_of_grad(
    const LayerGradients& incoming, const ConvolutionOperands& operands,
    const std::function<Tensor(const Tensor& input, const Tensor& weight)>& convolve) {
  Tensor sum;
  const auto add_part = [&](const Tensor& part) { sum = sum.defined() ? add(sum, part) : part; };
  if (incoming.input.defined()) add_part(convolve(incoming.input, operands.weight));
  if (incoming.weight.defined()) add_part(convolve(operands.input, incoming.weight));
  if (incoming.bias.defined()) {
    Shape along_channels(operands.grad.dims(), 1);
    along_channels[1] = -1;
    add_part(expand(view(incoming.bias, along_channels), operands.grad.shape()));
  }
  return sum;
}

// Where the last stride does not reach the input's edge, the output is padded by the rest.
Tensor gradient_of_input(const ConvolutionShape& shape, const Tensor& of_weight,
                         const ConvolutionOperands& operands) {
  const int spatial = operands.grad.dims() - 2;
  const int rows = shape.stride.dims() - spatial;  // of lines: one that they do not have
  Shape rest(rows, 0);
  for (int i = 0; i < spatial; ++i) {
    const std::int64_t reach = (operands.grad.shape()[2 + i] - 1) * shape.stride[rows + i] -
                               2 * shape.padding[rows + i] +
                               shape.dilation[rows + i] * (operands.weight.shape()[2 + i] - 1) + 1;
    rest.push_back(operands.input.shape()[2 + i] - reach);
  }
  return transposed_again(operands.grad, of_weight, shape, rest);
}

// On a device PyTorch has row-major copies of gradients.
Tensor dense_grad(const Tensor& grad) { return grad.device().is_cuda() ? contiguous(grad) : grad; }

// What the stride leaves over at the edge is cut off.
Tensor cut_to(Tensor found, const Tensor& like) {
  for (int dim = 2; dim < found.dims(); ++dim) {
    const std::int64_t size = like.shape()[dim];
    if (found.shape()[dim] > size) found = narrow(found, dim, 0, size);
  }
  return found;
}

// The group's part of the first dimension.
Tensor group_of(const Tensor& channels, std::int64_t group, std::int64_t groups) {
  const std::int64_t size = channels.shape()[0] / groups;
  return narrow(channels, 0, group * size, size);
}

// The kernel's positions are the pixels of a convolution whose batch are the channels: stride and
// dilation change places. `correlate` of what came for the input's gradient and of the gradient, by
// group.
Tensor gradient_of_weight(const ConvolutionShape& shape, const Tensor& of_input,
                          const ConvolutionOperands& operands,
                          const std::function<Tensor(const Tensor& of_input, const Tensor& grad,
                                                     const ConvolutionShape& turned)>& correlate) {
  const ConvolutionShape turned{shape.dilation, shape.padding, shape.stride, 1, shape.is_of_lines};
  Tensor found;
  {
    const Tensor turned_grad = transpose(operands.grad, 0, 1);
    const Tensor turned_input = transpose(of_input, 0, 1);
    const std::int64_t groups = shape.groups;
    std::vector<Tensor> parts;
    for (std::int64_t group = 0; groups > 1 && group < groups; ++group) {
      parts.push_back(correlate(group_of(turned_input, group, groups),
                                dense_grad(group_of(turned_grad, group, groups)), turned));
    }
    const Tensor by_channel =
        groups > 1 ? cat(parts, 1) : correlate(turned_input, dense_grad(turned_grad), turned);
    found = transpose(by_channel, 0, 1);
  }
  return cut_to(found, operands.weight);
}

}  // namespace

std::vector<Tensor> second_gradients(const ConvolutionShape& shape, const LayerGradients& incoming,
                                     const ConvolutionOperands& operands) {
  std::vector<Tensor> grads(3);
  grads[0] = gradient_of_grad(incoming, operands, [&](const Tensor& input, const Tensor& weight) {
    return convolved_again(input, weight, shape);
  });
  if (incoming.input.defined()) {
    grads[2] = gradient_of_weight(shape, incoming.input, operands, &convolved_again);
  }
  if (incoming.weight.defined()) grads[1] = gradient_of_input(shape, incoming.weight, operands);
  return grads;
}

std::vector<Tensor> transposed_second_gradients(const ConvolutionShape& shape,
                                                const Shape& output_padding,
                                                const LayerGradients& incoming,
                                                const ConvolutionOperands& operands) {
  std::vector<Tensor> grads(3);
  grads[0] = gradient_of_grad(incoming, operands, [&](const Tensor& input, const Tensor& weight) {
    return transposed_again(input, weight, shape, output_padding);
  });
  if (incoming.input.defined()) {
    grads[2] = gradient_of_weight(
        shape, incoming.input, operands,
        [&](const Tensor& of_input, const Tensor& grad, const ConvolutionShape& turned) {
          return convolved_for_transposed(grad, of_input, turned, output_padding);
        });
  }
  if (incoming.weight.defined()) {
    const Tensor grad = dense_grad(operands.grad);
    const Tensor found = convolved_for_transposed(grad, incoming.weight, shape, output_padding);
    grads[1] = cut_to(found, operands.input);
  }
  return grads;
}

TensorList recorded_convolution_backward(
    const BackwardCall& call, const std::function<TensorList()>& backward,
    const std::function<std::vector<Tensor>(const LayerGradients&, const ConvolutionOperands&)>&
        second) {
  const Tensor input = call.saved(0);
  const Tensor weight = call.saved(1);
  Recorder record("ConvolutionBackwardBackward", {&call.grad(), &input, &weight});
  for (const Tensor& kept : {call.grad(), input, weight}) record.save(kept);
  TensorList grads;
  {
    const GradModeGuard no_graph(false);
    grads = backward();
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

}  // namespace ohm::ops
