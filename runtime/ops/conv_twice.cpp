#include "runtime/ops/conv_twice.h"

#include "runtime/ops/arithmetic.h"
#include "runtime/ops/conv_transpose.h"
#include "runtime/ops/convert.h"
#include "runtime/ops/slice.h"
#include "runtime/ops/view.h"

namespace ohm::ops {
namespace {

// The gradient of `grad`: the convolution of what came for the input's gradient with the weight, of
// the input with what came for the weight's, and what came for the bias's.
Tensor gradient_of_grad(const SecondGradients& second, const std::vector<Tensor>& incoming,
                        const ConvolutionOperands& operands) {
  Tensor sum;
  const auto add_part = [&](const Tensor& part) { sum = sum.defined() ? add(sum, part) : part; };
  if (incoming[0].defined()) {
    add_part(second.convolve(incoming[0], operands.weight, second.shape));
  }
  if (incoming[1].defined()) add_part(second.convolve(operands.input, incoming[1], second.shape));
  if (incoming[2].defined()) {
    add_part(expand(view(incoming[2], {1, -1, 1, 1}), operands.grad.shape()));
  }
  return sum;
}

// Where the last stride does not reach the input's edge, the output is padded by the rest.
Tensor gradient_of_input(const SecondGradients& second, const Tensor& of_weight,
                         const ConvolutionOperands& operands) {
  Shape rest;
  for (int i = 0; i < 2; ++i) {
    const std::int64_t reach = (operands.grad.shape()[2 + i] - 1) * second.shape.stride[i] -
                               2 * second.shape.padding[i] +
                               second.shape.dilation[i] * (operands.weight.shape()[2 + i] - 1) + 1;
    rest.push_back(operands.input.shape()[2 + i] - reach);
  }
  return conv_transpose2d(operands.grad, of_weight, std::nullopt, second.shape.stride,
                          second.shape.padding, rest, 1, second.shape.dilation);
}

// The kernel's positions are the pixels of a convolution whose batch are the channels: stride and
// dilation change places. What the stride leaves over at the edge is cut off.
Tensor gradient_of_weight(const SecondGradients& second, const Tensor& of_input,
                          const ConvolutionOperands& operands) {
  const ConvolutionShape turned{second.shape.dilation, second.shape.padding, second.shape.stride};
  Tensor found;
  {
    // A copy that is there before the convolution makes its own.
    const Tensor turned_grad = transpose(operands.grad, 0, 1);
    const bool is_copied = turned_grad.device().is_cuda();
    const Tensor by_channel = second.convolve(
        transpose(of_input, 0, 1), is_copied ? contiguous(turned_grad) : turned_grad, turned);
    found = transpose(by_channel, 0, 1);
  }
  for (int dim = 2; dim < found.dims(); ++dim) {
    const std::int64_t size = operands.weight.shape()[dim];
    if (found.shape()[dim] > size) found = narrow(found, dim, 0, size);
  }
  return found;
}

}  // namespace

std::vector<Tensor> SecondGradients::operator()(const std::vector<Tensor>& incoming,
                                                const ConvolutionOperands& operands) const {
  std::vector<Tensor> grads(3);
  grads[0] = gradient_of_grad(*this, incoming, operands);
  if (incoming[0].defined()) grads[2] = gradient_of_weight(*this, incoming[0], operands);
  if (incoming[1].defined()) grads[1] = gradient_of_input(*this, incoming[1], operands);
  return grads;
}

}  // namespace ohm::ops
