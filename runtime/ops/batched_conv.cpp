#include "runtime/ops/batched_conv.h"

#include <stdexcept>

#include "runtime/arithmetic/factories.h"
#include "runtime/arithmetic/reduce.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/conv_passes.h"
#include "runtime/ops/conv_sizes.h"
#include "runtime/ops/joined_samples.h"
#include "runtime/ops/view.h"
#include "runtime/tensor/batched.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kConvolution{"conv2d"};

/// What the samples are joined with: dimensions of images and of filters.
constexpr int kImageDim = 0;
constexpr int kChannelDim = 1;
constexpr int kFilterDim = 0;

// PyTorch gives its kernels an operand of which they need the shape alone: one element, repeated.
Tensor shape_alone(const Tensor& like, const Tensor& one, int dim, std::int64_t samples) {
  Shape sizes = one.shape();
  sizes[dim] *= samples;
  return expand(empty({}, options_of(like)), sizes);
}

Tensor convolved_whole(const ConvolutionShape& shape, const Tensor& input, const Tensor& weight,
                       const Tensor& bias) {
  if (AllSamples({&input, &weight, &bias})) return batched_convolution(shape, input, weight, bias);
  const ConvPlan plan = conv_plan(kConvolution, input, weight,
                                  {shape.stride, shape.padding, shape.dilation}, shape.groups);
  return convolved(plan, input, weight, bias);
}

ConvolutionShape in_groups(ConvolutionShape shape, std::int64_t samples) {
  shape.groups *= samples;
  return shape;
}

TensorList gradients_whole(const ConvolutionShape& shape, const WantedGradients& wanted,
                           const Tensor& grad, const Tensor& input, const Tensor& weight) {
  if (is_batched(grad) || is_batched(input) || is_batched(weight)) {
    return batched_convolution_gradients(shape, wanted, grad, input, weight);
  }
  const ConvPlan plan = conv_plan(kConvolution, input, weight,
                                  {shape.stride, shape.padding, shape.dilation}, shape.groups);
  return convolution_gradients(plan, wanted, grad, input, weight);
}

void require_rule(const ConvolutionShape& shape, bool has_known_groups) {
  if (shape.is_of_lines || shape.stride.dims() != 2) {
    throw std::invalid_argument("[conv] vmap has no batching rule for lines and volumes");
  }
  if (!has_known_groups) {
    throw std::invalid_argument(
        "[conv2d] vmap has no batching rule for groups where one operand alone differs between "
        "samples");
  }
}

Tensor filters_in_channels(const ConvolutionShape& shape, const AllSamples& all,
                           const Tensor& input, const Tensor& weight) {
  const std::int64_t samples = all.count();
  const Tensor filters = join_samples(all.of(weight), kFilterDim);
  if (all.has(input)) {
    const Tensor images = join_samples(all.of(input), kChannelDim);
    const Tensor out = convolved_whole(in_groups(shape, samples), images, filters, Tensor());
    return all.one(split_samples(out, kChannelDim, samples));
  }
  require_rule(shape, shape.groups == 1);
  const Tensor out = convolved_whole(shape, input, filters, Tensor());
  return all.one(split_samples(out, kChannelDim, samples));
}

Tensor with_bias(const Tensor& out, const Tensor& bias) {
  if (!bias.defined()) return out;
  const Tensor beside = unsqueeze(unsqueeze(bias, -1), -1);
  return add(out, beside);
}

struct ConvolvedSamples {
  const Tensor& grad;
  const Tensor& input;
  const Tensor& weight;
};

// All three differ: samples are groups of one backward pass.
void add_gradients_in_groups(const ConvolutionShape& shape, const AllSamples& all,
                             const WantedGradients& wanted, const ConvolvedSamples& of,
                             TensorList& grads) {
  const std::int64_t samples = all.count();
  const Tensor grad = join_samples(all.of(of.grad), kChannelDim);
  const Tensor input = join_samples(all.of(of.input), kChannelDim);
  const Tensor weight = join_samples(all.of(of.weight), kFilterDim);
  const TensorList made = gradients_whole(
      in_groups(shape, samples), {wanted.input, wanted.weight, false}, grad, input, weight);
  if (wanted.input) grads[0] = all.one(split_samples(made[0], kChannelDim, samples));
  if (wanted.weight) grads[1] = all.one(split_samples(made[1], kFilterDim, samples));
}

Tensor input_gradient(const ConvolutionShape& shape, const AllSamples& all,
                      const ConvolvedSamples& of) {
  require_rule(shape, all.has(of.grad));
  const std::int64_t samples = all.count();
  const bool has_filters = all.has(of.weight);
  const int dim = has_filters ? kChannelDim : kImageDim;
  const Tensor grad = join_samples(all.of(of.grad), dim);
  const Tensor weight = has_filters ? join_samples(all.of(of.weight), kFilterDim) : of.weight;
  const Tensor input = shape_alone(of.input, of.input, dim, samples);
  const TensorList made = gradients_whole(has_filters ? in_groups(shape, samples) : shape,
                                          {true, false, false}, grad, input, weight);
  return all.one(split_samples(made[0], dim, samples));
}

Tensor weight_gradient(const ConvolutionShape& shape, const AllSamples& all,
                       const ConvolvedSamples& of) {
  const bool is_grouped = all.has(of.input);
  require_rule(shape, all.has(of.grad) && (is_grouped || shape.groups == 1));
  const std::int64_t samples = all.count();
  const Tensor grad = join_samples(all.of(of.grad), kChannelDim);
  const Tensor input = is_grouped ? join_samples(all.of(of.input), kChannelDim) : of.input;
  const Tensor weight = shape_alone(of.weight, of.weight, kFilterDim, samples);
  const TensorList made = gradients_whole(is_grouped ? in_groups(shape, samples) : shape,
                                          {false, true, false}, grad, input, weight);
  return all.one(split_samples(made[1], kFilterDim, samples));
}

}  // namespace

Tensor batched_convolution(const ConvolutionShape& shape, const Tensor& input, const Tensor& weight,
                           const Tensor& bias) {
  const NoGradGuard no_grad;
  require_rule(shape, true);
  const AllSamples all({&input, &weight, &bias});
  if (all.has(weight)) return with_bias(filters_in_channels(shape, all, input, weight), bias);
  if (!all.has(input)) return with_bias(convolved_whole(shape, input, weight, Tensor()), bias);
  const bool is_separate = all.has(bias);
  const Tensor images = join_samples(all.of(input), kImageDim);
  const Tensor out = convolved_whole(shape, images, weight, is_separate ? Tensor() : bias);
  const Tensor apart = all.one(split_samples(out, kImageDim, all.count()));
  return is_separate ? with_bias(apart, bias) : apart;
}

TensorList batched_convolution_gradients(const ConvolutionShape& shape,
                                         const WantedGradients& wanted, const Tensor& grad,
                                         const Tensor& input, const Tensor& weight) {
  const NoGradGuard no_grad;
  require_rule(shape, true);
  const AllSamples all({&grad, &input, &weight});
  TensorList grads(3);
  if (wanted.bias) {
    grads[2] = reduce_sum(grad, all_but_channels(grad.dims()), false, grad.dtype());
  }
  const ConvolvedSamples operands{grad, input, weight};
  if (all.has(grad) && all.has(input) && all.has(weight)) {
    add_gradients_in_groups(shape, all, wanted, operands, grads);
    return grads;
  }
  if (wanted.input) grads[0] = input_gradient(shape, all, operands);
  if (wanted.weight) grads[1] = weight_gradient(shape, all, operands);
  return grads;
}

}  // namespace ohm::ops
