#include "runtime/ops/convolution/conv_groups.h"

#include <array>
#include <utility>
#include <vector>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"

namespace ohm::ops {
namespace {

// A group's channels of an input, or its filters. A view.
Tensor group_of(const Tensor& tensor, int dim, std::int64_t groups, std::int64_t group) {
  if (!tensor.defined()) return tensor;
  Shape sizes = tensor.shape();
  sizes[dim] /= groups;
  return make_view(tensor, sizes, tensor.strides(),
                   tensor.impl()->offset + group * sizes[dim] * tensor.strides()[dim]);
}

// What the groups made, as one; undefined where they made nothing.
Tensor joined(const std::vector<Tensor>& parts, int dim) {
  if (!parts[0].defined()) return {};
  const auto count = static_cast<std::int64_t>(parts.size());
  Shape sizes = parts[0].shape();
  sizes[dim] *= count;
  Tensor whole = empty(sizes, options_of(parts[0]));
  for (std::int64_t i = 0; i < count; ++i) {
    copy_into(group_of(whole, dim, count, i), parts[static_cast<std::size_t>(i)]);
  }
  return whole;
}

}  // namespace

Tensor convolve_by_group(std::int64_t groups, const Tensor& input, const Tensor& weight,
                         const Tensor& bias, const GroupForward& convolve) {
  std::vector<Tensor> outs;
  for (std::int64_t group = 0; group < groups; ++group) {
    const Tensor channels = row_major(group_of(input, 1, groups, group));
    const Tensor filters = row_major(group_of(weight, 0, groups, group));
    outs.push_back(convolve(channels, filters, group_of(bias, 0, groups, group)));
  }
  return joined(outs, 1);
}

TensorList convolution_gradients_by_group(std::int64_t groups, const Tensor& grad,
                                          const Tensor& input, const Tensor& weight,
                                          const GroupBackward& gradients) {
  std::array<std::vector<Tensor>, 3> parts;
  for (std::int64_t group = 0; group < groups; ++group) {
    const Tensor grad_part = row_major(group_of(grad, 1, groups, group));
    const Tensor channels = row_major(group_of(input, 1, groups, group));
    const Tensor filters = row_major(group_of(weight, 0, groups, group));
    TensorList grads = gradients(grad_part, channels, filters);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].push_back(std::move(grads[i]));
  }
  Tensor input_grad = joined(parts[0], 1);
  Tensor weight_grad = joined(parts[1], 0);
  Tensor bias_grad = joined(parts[2], 0);
  return {input_grad, weight_grad, bias_grad};
}

}  // namespace ohm::ops
