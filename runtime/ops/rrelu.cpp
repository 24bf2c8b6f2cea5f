#include "runtime/ops/rrelu.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/arithmetic/copy.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/functors/piecewise.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/binary_kernel.h"
#include "runtime/ops/formula.h"
#include "runtime/ops/pointwise_kernel.h"

namespace ohm::ops {
namespace {

constexpr OpInfo kRrelu{"rrelu"};

// Closer bounds are one slope to PyTorch.
constexpr double kSmallestRange = 1e-6;

struct Slopes {
  double lower;
  double upper;
  bool is_random;  ///< each element has its own

  double mean() const { return (lower + upper) / 2; }
};

// The slope of each element: 1 where it is positive.
void draw_slopes(const Tensor& noise, const Tensor& input, const Slopes& slopes) {
  fill_uniform(noise, slopes.lower, slopes.upper);
  map_floating(
      noise, noise.dtype(), [](double x, double slope) { return x <= 0 ? slope : 1.0; }, input,
      noise);
}

Tensor slope_gradient(const Slopes& slopes, const BackwardCall& call) {
  if (slopes.is_random && slopes.upper - slopes.lower > kSmallestRange) {
    return mul(call.grad(), call.saved(0));
  }
  const auto kernel = [slope = slopes.mean()](const Tensor& grad, const Tensor& input) {
    return map_new(grad, input, functors::LeakyReluBackward{slope});
  };
  return formula::linear_in_gradient("LeakyReluBackward", call.grad(), call.saved(1), kernel);
}

}  // namespace

Tensor rrelu(const Tensor& input, double lower, double upper, bool training) {
  const OpFront front(kRrelu);
  require_floating(input, kRrelu);
  if (!(lower <= upper)) {
    throw std::invalid_argument(fmt::format(
        "[rrelu] Lower bound should be less than or equal to the upper bound, got {} and {}", lower,
        upper));
  }
  const Slopes slopes{lower, upper, training};
  const Tensor noise = empty(input.shape(), options_of(input));
  if (training) draw_slopes(noise, input, slopes);
  Recorder record("RreluWithNoiseBackward", {&input});
  record.save(noise);
  record.save(input);
  Tensor out = empty(input.shape(), options_of(input));
  if (training) {
    const Tensor rows = row_major(input);
    map_floating(out, out.dtype(), functors::Product(), rows, noise);
  } else {
    map_floating(out, out.dtype(), functors::LeakyRelu{slopes.mean()}, input);
  }
  record.attach_differentiable(
      out, [slopes](BackwardCall& call) { return TensorList{slope_gradient(slopes, call)}; });
  return out;
}

std::vector<OpDef> rrelu_ops() {
  return {
      define(kRrelu, kFunction | kFunctional, &rrelu,
             {"input", {"lower", 0.125}, {"upper", 1.0 / 3.0}, {"training", false}},
             [] {
               const TensorOptions options{DType::float64, Device::cpu()};
               return std::vector<Sample>{{randn({3, 4}, options)},
                                          {randn({3, 4}, options), 0.1, 0.7, true}};
             }),
  };
}

}  // namespace ohm::ops
