#include "runtime/ops/conv_twice.h"

#include "runtime/ops/arithmetic.h"
#include "runtime/ops/concat.h"
#include "runtime/ops/conv_transpose.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/slice.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

// The gradient of `grad`: the convolution of what came for the input's gradient with the weight, of
// the input with what came for the weight's, and what came for the bias's.
Tensor gradient_of_grad(const SecondGradients& second, const LayerGradients& incoming,
                        const ConvolutionOperands& operands) {
  Tensor sum;
  const auto add_part = [&](const Tensor& part) { sum = sum.defined() ? add(sum, part) : part; };
  if (incoming.input.defined()) {
    add_part(second.convolve(incoming.input, operands.weight, second.shape));
  }
  if (incoming.weight.defined())
    add_part(second.convolve(operands.input, incoming.weight, second.shape));
  if (incoming.bias.defined()) {
    Shape along_channels(operands.grad.dims(), 1);
    along_channels[1] = -1;
    add_part(expand(view(incoming.bias, along_channels), operands.grad.shape()));
  }
  return sum;
}

// Where the last stride does not reach the input's edge, the output is padded by the rest.
Tensor gradient_of_input(const SecondGradients& second, const Tensor& of_weight,
                         const ConvolutionOperands& operands) {
  Shape rest;
  for (int i = 0; i < operands.grad.dims() - 2; ++i) {
    const std::int64_t reach = (operands.grad.shape()[2 + i] - 1) * second.shape.stride[i] -
                               2 * second.shape.padding[i] +
                               second.shape.dilation[i] * (operands.weight.shape()[2 + i] - 1) + 1;
    rest.push_back(operands.input.shape()[2 + i] - reach);
  }
  const auto transposed = rest.dims() == 3 ? &conv_transpose3d : &conv_transpose2d;
  return transposed(operands.grad, of_weight, std::nullopt, second.shape.stride,
                    second.shape.padding, rest, second.shape.groups, second.shape.dilation);
}

// A copy of the gradient is there before the convolution makes its own.
Tensor weight_gradient_by_channel(const SecondGradients& second, const Tensor& of_input,
                                  const Tensor& grad, const ConvolutionShape& turned) {
  return second.convolve(of_input, grad.device().is_cuda() ? contiguous(grad) : grad, turned);
}

// The group's part of the first dimension.
Tensor group_of(const Tensor& channels, std::int64_t group, std::int64_t groups) {
  const std::int64_t size = channels.shape()[0] / groups;
  return narrow(channels, 0, group * size, size);
}

// The kernel's positions are the pixels of a convolution whose batch are the channels: stride and
// dilation change places. What the stride leaves over at the edge is cut off.
Tensor gradient_of_weight(const SecondGradients& second, const Tensor& of_input,
                          const ConvolutionOperands& operands) {
  const ConvolutionShape turned{second.shape.dilation, second.shape.padding, second.shape.stride};
  Tensor found;
  {
    const Tensor turned_grad = transpose(operands.grad, 0, 1);
    const Tensor turned_input = transpose(of_input, 0, 1);
    const std::int64_t groups = second.shape.groups;
    std::vector<Tensor> parts;
    for (std::int64_t group = 0; groups > 1 && group < groups; ++group) {
      parts.push_back(weight_gradient_by_channel(second, group_of(turned_input, group, groups),
                                                 group_of(turned_grad, group, groups), turned));
    }
    const Tensor by_channel =
        groups > 1 ? cat(parts, 1)
                   : weight_gradient_by_channel(second, turned_input, turned_grad, turned);
    found = transpose(by_channel, 0, 1);
  }
  for (int dim = 2; dim < found.dims(); ++dim) {
    const std::int64_t size = operands.weight.shape()[dim];
    if (found.shape()[dim] > size) found = narrow(found, dim, 0, size);
  }
  return found;
}

}  // namespace

std::vector<Tensor> SecondGradients::operator()(const LayerGradients& incoming,
                                                const ConvolutionOperands& operands) const {
  std::vector<Tensor> grads(3);
  grads[0] = gradient_of_grad(*this, incoming, operands);
  if (incoming.input.defined()) grads[2] = gradient_of_weight(*this, incoming.input, operands);
  if (incoming.weight.defined()) grads[1] = gradient_of_input(*this, incoming.weight, operands);
  return grads;
}

}  // namespace ohm::ops
