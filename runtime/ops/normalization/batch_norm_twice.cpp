#include "runtime/ops/normalization/batch_norm_twice.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/functors/functions.h"
#include "runtime/ops/gradient_outputs.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

// Over all dimensions but that of the channels: one sum after the other, each in a tensor.
Tensor channel_sums(const Tensor& tensor, bool keepdim) {
  Tensor result = sum(tensor, Shape{0}, keepdim, std::nullopt);
  const int last_kept = keepdim ? 1 : 0;
  for (int dim = result.dims() - 1; dim > last_kept; --dim) {
    result = sum(result, Shape{dim}, keepdim, std::nullopt);
  }
  return result;
}

// With c the distance from the mean, s the reciprocal deviation and n the values of a channel.
class BatchNormSecondPass {
 public:
  BatchNormSecondPass(const BatchNormPass& pass, const LayerGradients& given)
      : pass_(pass),
        count_(count_of(pass.input.shape())),
        of_input_(given.input),
        weight_(pass.weight.defined() ? across(pass.weight)
                                      : full({}, 1.0, options_of(pass.input))),
        of_weight_(across(given.weight)),
        of_bias_(across(given.bias)),
        early_s_(is_inverted_first() ? reciprocal_deviation() : Tensor()),
        centered_(sub(pass.input, mean())),
        s_(early_s_.defined() ? early_s_ : reciprocal_deviation()),
        s2_(pow(s_, 2.0)),
        s3_(pow(s_, 3.0)),
        centered_s3_(mul(centered_, s3_)) {
    {
      const Tensor products = mul(pass.grad, centered_);
      slopes_ = channel_sums(products, true);
    }
    sums_ = channel_sums(pass.grad, true);
  }

  Tensor gradient_of_input() {
    Tensor result;
    if (of_input_.defined() && pass_.is_training) result = input_part();
    if (!pass_.weight.defined() || !of_weight_.defined()) return result;
    weight_part_ = pass_.is_training ? weight_part() : mul(mul(of_weight_, s_), pass_.grad);
    return result.defined() ? add_(result, weight_part_) : weight_part_;
  }

  Tensor gradient_of_weight() const {
    if (!pass_.weight.defined() || !of_input_.defined()) return {};
    if (!pass_.is_training) {
      const Tensor products = mul(of_input_, pass_.grad);
      const Tensor scaled = mul(products, s_);
      return channel_sums(scaled, false);
    }
    Tensor products;
    {
      const Tensor one = full({}, 1.0, options_of(s_));
      const Tensor turned = turned_back(pass_.grad, one);
      products = mul(of_input_, turned);
    }
    return channel_sums(products, false);
  }

  Tensor gradient_of_grad() const {
    Tensor result;
    if (of_input_.defined()) {
      result =
          pass_.is_training ? turned_back(of_input_, weight_) : mul(mul(of_input_, s_), weight_);
    }
    if (of_weight_.defined()) {
      const Tensor part = mul(mul(of_weight_, centered_), s_);
      result = result.defined() ? add_(result, part) : part;
    }
    if (of_bias_.defined()) result = result.defined() ? add_(result, of_bias_) : of_bias_;
    return result;
  }

 private:
  static double count_of(const Shape& shape) {
    double count = 1;
    for (int dim = 0; dim < shape.dims(); ++dim) {
      if (dim != 1) count *= static_cast<double>(shape[dim]);
    }
    return count;
  }

  // A number for each channel as [C, 1, …], and repeated as the input is shaped.
  Tensor across(const Tensor& channels) const {
    if (!channels.defined()) return channels;
    Shape shape = channels.shape();
    for (int dim = 2; dim < pass_.input.dims(); ++dim) shape.push_back(1);
    return expand(unrecorded_reshape(channels, shape), pass_.input.shape());
  }
  // As [1, C, 1, …].
  Tensor beside(const Tensor& channels) const {
    Shape shape{1, channels.numel()};
    for (int dim = 2; dim < pass_.input.dims(); ++dim) shape.push_back(1);
    return unrecorded_reshape(channels, shape);
  }

  Tensor mean() const {
    return beside(pass_.is_training ? cast(pass_.mean, pass_.input.dtype()) : pass_.running_mean);
  }
  bool is_inverted_first() const {
    return !pass_.is_training && Context::current().rules.batch_norm_inverts_deviation_first;
  }
  Tensor reciprocal_deviation() const {
    if (pass_.is_training) return beside(cast(pass_.invstd, pass_.input.dtype()));
    const Tensor variance = add(pass_.running_var, pass_.eps);
    if (!is_inverted_first()) return beside(pow(variance, -0.5));
    map_floating(variance, variance.dtype(), functors::Rsqrt(), variance);
    return beside(variance);
  }

  Tensor input_part() const {
    const Tensor sums_of_given = channel_sums(of_input_, true);
    Tensor slopes_of_given;
    {
      const Tensor products = mul(of_input_, centered_);
      slopes_of_given = channel_sums(products, true);
    }
    const Tensor all = div_(mul(sums_of_given, sums_), count_);
    {
      const Tensor products = mul(pass_.grad, of_input_);
      const Tensor product_sums = channel_sums(products, true);
      const Tensor scaled = mul(s2_, slopes_);
      const Tensor slopes = mul_(mul(scaled, slopes_of_given), 3.0 / count_);
      sub_(all, product_sums);
      add_(all, slopes);
    }
    const Tensor result = div_(mul(centered_s3_, all), count_);
    const Tensor first = side(slopes_of_given, sums_, pass_.grad);
    const Tensor second = side(slopes_, sums_of_given, of_input_);
    add_(result, first);
    add_(result, second);
    return mul(weight_, result);
  }

  // slope · s³ / n · (total / n − each)
  Tensor side(const Tensor& slope, const Tensor& total, const Tensor& each) const {
    const Tensor mean = div(total, count_);
    const Tensor distance = sub(mean, each);
    const Tensor factor = div_(mul(slope, s3_), count_);
    return mul(factor, distance);
  }

  Tensor weight_part() const {
    const Tensor result = mul(pass_.grad, s_);
    const Tensor by_sum = div_(mul(s_, sums_), -count_);
    Tensor by_slope;
    {
      const Tensor products = mul(pass_.grad, centered_);
      const Tensor total = channel_sums(products, true);
      by_slope = div_(mul(centered_s3_, total), -count_);
    }
    add_(result, by_sum);
    add_(result, by_slope);
    return mul(of_weight_, result);
  }

  // weight · s · (g − mean(g) − x̂ · mean(g·x̂)): the first pass the other way round.
  Tensor turned_back(const Tensor& grad, const Tensor& weight) const {
    const Tensor factor = div_(mul(weight, s_), count_);
    const Tensor times = mul(grad, count_);
    {
      const Tensor sums = channel_sums(grad, true);
      const Tensor products = mul(grad, centered_);
      const Tensor slopes = channel_sums(products, true);
      const Tensor scaled = mul(centered_, s2_);
      const Tensor part = mul(scaled, slopes);
      sub_(times, sums);
      sub_(times, part);
    }
    return mul(factor, times);
  }

  const BatchNormPass& pass_;
  double count_;
  Tensor of_input_;
  Tensor weight_;
  Tensor of_weight_;
  Tensor of_bias_;
  Tensor early_s_;
  Tensor centered_;
  Tensor s_;
  Tensor s2_;
  Tensor s3_;
  Tensor centered_s3_;
  Tensor slopes_;
  Tensor sums_;
  Tensor weight_part_;
};

struct BatchNormSecondGradients {
  Tensor grad;
  Tensor input;
  Tensor weight;
};

// Wanted or not, in PyTorch's order.
BatchNormSecondGradients batch_norm_second_gradients(const BatchNormPass& pass,
                                                     const LayerGradients& given) {
  BatchNormSecondPass second(pass, given);
  BatchNormSecondGradients grads;
  grads.input = second.gradient_of_input();
  grads.weight = second.gradient_of_weight();
  grads.grad = second.gradient_of_grad();
  return grads;
}

}  // namespace

void record_batch_norm_gradients(const BatchNormPass& pass, BatchNormNode node,
                                 const LayerGradients& out) {
  const bool is_cudnn = node == BatchNormNode::cudnn;
  Recorder record =
      is_cudnn
          ? Recorder("CudnnBatchNormBackwardBackward", {&pass.input, &pass.grad, &pass.weight})
          : Recorder("NativeBatchNormBackwardBackward", {&pass.grad, &pass.input, &pass.weight});
  if (!record.is_needed()) return;
  for (const Tensor* kept : {&pass.grad, &pass.input, &pass.running_mean, &pass.running_var,
                             &pass.invstd, &pass.mean, &pass.weight}) {
    record.save(*kept);
  }
  const GradientOutputs outputs(out);
  record.attach(outputs.of(out), [outputs, is_cudnn, is_training = pass.is_training,
                                  eps = pass.eps](const BackwardCall& call) {
    const BatchNormPass first{call.saved(0), call.saved(1), call.saved(6),
                              call.saved(5), call.saved(4), call.saved(2),
                              call.saved(3), is_training,   eps};
    const BatchNormSecondGradients grads =
        batch_norm_second_gradients(first, outputs.incoming(call));
    return is_cudnn ? TensorList{grads.input, grads.grad, grads.weight}
                    : TensorList{grads.grad, grads.input, grads.weight};
  });
}

}  // namespace ohm::ops
