#include "runtime/ops/normalization/group_norm_twice.h"

#include "runtime/autograd/grad_mode.h"
#include "runtime/ops/pointwise/arithmetic.h"
#include "runtime/ops/pointwise/clamp.h"
#include "runtime/ops/pointwise/inplace_binary.h"
#include "runtime/ops/pointwise/pointwise_math.h"
#include "runtime/ops/reduction/reduction.h"
#include "runtime/ops/shape/view.h"
#include "runtime/tensor/context.h"

namespace ohm::ops {
namespace {

Tensor summed(const Tensor& tensor, std::int64_t dim) {
  return sum(tensor, Shape{dim}, false, std::nullopt);
}

// The variance, which PyTorch 2.6 makes and does not use. Where ops are recorded, its graph keeps
// what it was made of.
class UnusedVariance {
 public:
  UnusedVariance(const Tensor& rstd, double eps) {
    if (Context::current().rules.group_norm_adds_statistics_gradients) return;
    const bool is_recorded = Context::current().state.grad_enabled;
    const NoGradGuard no_grad;
    square_ = mul(rstd, rstd);
    shifted_ = sub(square_, eps);
    variance_ = clamp(shifted_, 0.0, std::nullopt);
    if (is_recorded) return;
    shifted_ = Tensor();
    square_ = Tensor();
  }

 private:
  // Members go from the last on.
  Tensor variance_;
  Tensor square_;
  Tensor shifted_;
};

// Inputs as [samples, groups, channels of one, pixels]; statistics as [samples, groups, 1, 1].
class GroupNormBackwardByOps {
 public:
  explicit GroupNormBackwardByOps(const GroupNormPass& pass)
      : pass_(pass),
        whole_{pass.input.shape()[0], pass.groups, pass.input.shape()[1] / pass.groups,
               pixels_of(pass.input.shape())},
        of_groups_{whole_[0], whole_[1], 1, 1},
        input_(reshape(pass.input, whole_)),
        mean_(reshape(pass.mean, of_groups_)),
        rstd_(reshape(pass.rstd, of_groups_)) {
    if (!pass.grad.defined()) return;
    grad_ = reshape(pass.grad, whole_);
    {
      const Tensor products = mul(grad_, input_);
      slopes_ = unsqueeze(summed(products, 3), -1);
    }
    sums_ = unsqueeze(summed(grad_, 3), -1);
  }

  LayerGradients run(const WantedGradients& wanted) const {
    LayerGradients out;
    if (wanted.input) out.input = gradient_of_input();
    if (!pass_.grad.defined()) return out;
    if (wanted.weight) out.weight = gradient_of_weight();
    if (wanted.bias) out.bias = reshape(summed(sums_, 0), {pass_.input.shape()[1]});
    return out;
  }

  void add_statistics(Tensor& made) const {
    Tensor grad_of_variance;
    {
      const Tensor scaled = mul(rstd_, -0.5);
      const Tensor square = mul(scaled, rstd_);
      const Tensor cube = mul(square, rstd_);
      grad_of_variance = mul(cube, view(pass_.grad_of_rstd, of_groups_));
    }
    const Tensor part = reshape(part_of_statistics(grad_of_variance), pass_.input.shape());
    const Tensor both = made.defined() ? add(made, part) : part;
    made = Tensor();  // before the part
    made = both;
  }

 private:
  static std::int64_t pixels_of(const Shape& shape) {
    std::int64_t pixels = 1;
    for (int dim = 2; dim < shape.dims(); ++dim) pixels *= shape[dim];
    return pixels;
  }
  double count() const { return static_cast<double>(whole_[2] * whole_[3]); }

  bool have_statistics_gradients() const {
    return pass_.grad_of_mean.defined() && pass_.grad_of_rstd.defined();
  }

  Tensor gradient_of_input() const {
    const Tensor weight =
        pass_.weight.defined() ? reshape(pass_.weight, {1, whole_[1], whole_[2], 1}) : Tensor();
    const UnusedVariance variance(rstd_, pass_.eps);
    const Tensor cube = mul(mul(rstd_, rstd_), rstd_);
    const Tensor grad_of_variance = variance_gradient(cube);
    Tensor result;
    if (pass_.grad.defined()) {
      result = part_of_grad(weight, cube, grad_of_variance);
    } else if (have_statistics_gradients()) {
      result = part_of_statistics(grad_of_variance);
    }
    return result.defined() ? reshape(result, pass_.input.shape()) : result;
  }

  // -1/2 · s³ · grad
  Tensor variance_gradient(const Tensor& cube) const {
    if (!pass_.grad_of_rstd.defined()) return {};
    const Tensor grad = view(pass_.grad_of_rstd, of_groups_);
    return mul(mul(cube, -0.5), grad);
  }

  // Of each group's factors of the gradient, of the input and of 1.
  Tensor part_of_grad(const Tensor& weight, const Tensor& cube,
                      const Tensor& grad_of_variance) const {
    const double share = 1.0 / count();
    const Tensor of_grad = weight.defined() ? mul(rstd_, weight) : rstd_;
    Tensor of_input = group_sums(slopes_, weight);
    Tensor of_one = group_sums(sums_, weight);
    {
      const Tensor moved = mul(of_one, mean_);
      const Tensor rest = sub(moved, of_input);
      const Tensor scaled = mul(rest, cube);
      const Tensor next = mul(scaled, share);
      of_input = Tensor();  // before the temporaries
      of_input = next;
    }
    {
      const Tensor scaled = mul(of_one, rstd_);
      const Tensor shared = mul(scaled, share);
      const Tensor negated = neg(of_input);
      const Tensor moved = mul(negated, mean_);
      const Tensor next = sub(moved, shared);
      of_one = Tensor();
      of_one = next;
    }
    Tensor result;
    {
      const Tensor by_input = mul(of_input, input_);
      const Tensor by_grad = mul(of_grad, grad_);
      const Tensor both = add(by_grad, by_input);
      result = add(both, of_one);
    }
    if (have_statistics_gradients()) add_(result, part_of_statistics(grad_of_variance));
    return result;
  }

  static Tensor group_sums(const Tensor& of_channels, const Tensor& weight) {
    const Tensor factors = weight.defined() ? mul(of_channels, weight) : of_channels;
    return unsqueeze(summed(factors, 2), -2);
  }

  // As var_mean's gradient.
  Tensor part_of_statistics(const Tensor& grad_of_variance) const {
    Tensor result;
    {
      const Tensor mean = ops::mean(input_, Shape{2, 3}, true);
      const Tensor centered = sub(input_, mean);
      const Tensor scaled = mul(grad_of_variance, 2.0 / count());
      result = mul(scaled, centered);
    }
    const Tensor grad = view(pass_.grad_of_mean, of_groups_);
    const Tensor of_mean = div(expand(grad, whole_), count());
    const Tensor both = add(result, of_mean);
    result = Tensor();  // before the gradient of the mean
    return both;
  }

  Tensor gradient_of_weight() const {
    const Tensor moved = mul(sums_, mean_);
    const Tensor distance = sub(slopes_, moved);
    const Tensor slopes = mul(distance, rstd_);
    return reshape(summed(slopes, 0), pass_.weight.shape());
  }

  const GroupNormPass& pass_;
  Shape whole_;
  Shape of_groups_;
  Tensor input_;
  Tensor mean_;
  Tensor rstd_;
  Tensor grad_;
  Tensor slopes_;
  Tensor sums_;
};

}  // namespace

LayerGradients group_norm_gradients_by_ops(const GroupNormPass& pass,
                                           const WantedGradients& wanted) {
  return GroupNormBackwardByOps(pass).run(wanted);
}

void add_statistics_gradients(const GroupNormPass& pass, Tensor& made) {
  GroupNormBackwardByOps(pass).add_statistics(made);
}

}  // namespace ohm::ops
