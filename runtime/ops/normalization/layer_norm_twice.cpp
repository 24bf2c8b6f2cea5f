#include "runtime/ops/normalization/layer_norm_twice.h"

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/ops/gradient_outputs.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/power.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"

namespace ohm::ops {
namespace {

// With c the distance from the mean, s the reciprocal deviation and n the length of a row.
class SecondPass {
 public:
  SecondPass(const LayerNormPass& pass, const LayerGradients& given)
      : pass_(pass),
        length_(static_cast<double>(pass.length)),
        input_(as_rows(pass.input)),
        grad_(as_rows(pass.grad)),
        weight_(pass.weight.defined() ? as_row(pass.weight)
                                      : full({1}, 1.0, options_of(pass.input))),
        of_input_(as_rows(given.input)),
        of_weight_(as_row(given.weight)),
        of_bias_(as_row(given.bias)),
        centered_(sub(input_, as_column(pass.mean))),
        s_(as_column(pass.rstd)),
        s2_(pow(s_, 2.0)),
        s3_(pow(s_, 3.0)),
        centered_s3_(mul(centered_, s3_)) {}

  Tensor gradient_of_input() const {
    Tensor result;
    if (of_input_.defined()) result = input_part();
    if (pass_.weight.defined() && of_weight_.defined()) {
      const Tensor part = weight_part();
      result = result.defined() ? add_(result, part) : part;
    }
    return result.defined() ? unrecorded_reshape(result, pass_.input.shape()) : result;
  }

  Tensor gradient_of_weight() const {
    if (!pass_.weight.defined() || !of_input_.defined()) return {};
    Tensor turned;
    {
      const Tensor one = full({}, 1.0, options_of(s_));
      turned = turned_back(of_input_, one);
    }
    const Tensor products = mul(grad_, turned);
    const Tensor total = sum(products, Shape{0}, false, std::nullopt);
    turned = Tensor();
    return unrecorded_reshape(total, pass_.weight.shape());
  }

  Tensor gradient_of_grad() const {
    Tensor result;
    if (of_input_.defined()) result = turned_back(of_input_, weight_);
    if (of_weight_.defined()) {
      const Tensor part = mul(mul(of_weight_, centered_), s_);
      result = result.defined() ? add_(result, part) : part;
    }
    if (of_bias_.defined()) {
      result =
          result.defined() ? add_(result, of_bias_) : expand(of_bias_, {pass_.rows, pass_.length});
    }
    return result.defined() ? unrecorded_reshape(result, pass_.input.shape()) : result;
  }

 private:
  Tensor as_rows(const Tensor& tensor) const {
    return tensor.defined() ? unrecorded_reshape(tensor, {pass_.rows, pass_.length}) : tensor;
  }
  Tensor as_row(const Tensor& tensor) const {
    return tensor.defined() ? unrecorded_reshape(tensor, {1, pass_.length}) : tensor;
  }
  Tensor as_column(const Tensor& statistics) const {
    return cast(unrecorded_reshape(statistics, {pass_.rows, 1}), pass_.input.dtype());
  }
  static Tensor row_sums(const Tensor& tensor) { return sum(tensor, Shape{1}, true, std::nullopt); }

  Tensor input_part() const {
    const Tensor weighted = mul(grad_, weight_);
    const Tensor weighted_slope = row_sums(mul(weighted, centered_));
    const Tensor weighted_sum = row_sums(weighted);
    const Tensor sum_of_given = row_sums(of_input_);
    const Tensor given_slope = row_sums(mul(of_input_, centered_));
    const Tensor all = div_(mul(sum_of_given, weighted_sum), length_);
    {
      const Tensor products = mul(of_input_, weighted);
      const Tensor product_sums = row_sums(products);
      const Tensor scaled = mul(s2_, weighted_slope);
      const Tensor slopes = mul_(mul(scaled, given_slope), 3.0 / length_);
      sub_(all, product_sums);
      add_(all, slopes);
    }
    Tensor result = div_(mul(centered_s3_, all), length_);
    const Tensor first = side(given_slope, weighted_sum, weighted);
    const Tensor second = side(weighted_slope, sum_of_given, of_input_);
    add_(result, first);
    add_(result, second);
    return result;
  }

  // slope · s³ / n · (total / n − each)
  Tensor side(const Tensor& slope, const Tensor& total, const Tensor& each) const {
    const Tensor mean = div(total, length_);
    const Tensor distance = sub(mean, each);
    const Tensor factor = div_(mul(slope, s3_), length_);
    return mul(factor, distance);
  }

  // The weighted gradient is made anew for each of its three parts.
  Tensor weight_part() const {
    const Tensor result = mul(mul(grad_, of_weight_), s_);
    Tensor by_sum;
    {
      const Tensor weighted = mul(grad_, of_weight_);
      const Tensor total = row_sums(weighted);
      by_sum = div_(mul(s_, total), -length_);
    }
    Tensor by_slope;
    {
      const Tensor weighted = mul(grad_, of_weight_);
      const Tensor products = mul(weighted, centered_);
      const Tensor total = row_sums(products);
      by_slope = div_(mul(centered_s3_, total), -length_);
    }
    add_(result, by_sum);
    add_(result, by_slope);
    return result;
  }

  // weight · s · (g − mean(g) − x̂ · mean(g·x̂)): the first pass the other way round.
  Tensor turned_back(const Tensor& grad, const Tensor& weight) const {
    const Tensor factor = div_(mul(weight, s_), length_);
    const Tensor times = mul(grad, length_);
    {
      const Tensor sums = row_sums(grad);
      const Tensor products = mul(grad, centered_);
      const Tensor slopes = row_sums(products);
      const Tensor scaled = mul(centered_, s2_);
      const Tensor part = mul(scaled, slopes);
      sub_(times, sums);
      sub_(times, part);
    }
    return mul(factor, times);
  }

  const LayerNormPass& pass_;
  double length_;
  Tensor input_;
  Tensor grad_;
  Tensor weight_;
  Tensor of_input_;
  Tensor of_weight_;
  Tensor of_bias_;
  Tensor centered_;
  Tensor s_;
  Tensor s2_;
  Tensor s3_;
  Tensor centered_s3_;
};

TensorList second_gradients(const LayerNormPass& pass, const LayerGradients& given) {
  const SecondPass second(pass, given);
  TensorList grads{Tensor(), Tensor(), Tensor()};
  grads[1] = second.gradient_of_input();
  grads[2] = second.gradient_of_weight();
  grads[0] = second.gradient_of_grad();
  return grads;
}

}  // namespace

void record_layer_norm_gradients(const LayerNormPass& pass, const LayerGradients& out) {
  Recorder record("NativeLayerNormBackwardBackward", {&pass.grad, &pass.input, &pass.weight});
  if (!record.is_needed()) return;
  for (const Tensor* kept : {&pass.grad, &pass.input, &pass.weight, &pass.mean, &pass.rstd}) {
    record.save(*kept);
  }
  const GradientOutputs outputs(out);
  record.attach(
      outputs.of(out), [outputs, rows = pass.rows, length = pass.length](const BackwardCall& call) {
        const LayerNormPass first{call.saved(0), call.saved(1), call.saved(2), call.saved(3),
                                  call.saved(4), rows,          length};
        return second_gradients(first, outputs.incoming(call));
      });
}

}  // namespace ohm::ops
