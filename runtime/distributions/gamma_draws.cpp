#include "runtime/distributions/gamma_draws.h"

#include <cmath>
#include <cstring>

#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/recorder.h"
#include "runtime/distributions/gamma_functions.h"
#include "runtime/kernels/functors/arithmetic.h"
#include "runtime/kernels/launch/host_values.h"
#include "runtime/ops/arithmetic.h"
#include "runtime/ops/pointwise_kernel.h"
#include "runtime/ops/reduction.h"
#include "runtime/ops/view.h"

namespace ohm::distributions {
namespace {

// A seed for each element: the bits of a draw of the device's generator, and its place.
std::uint64_t seed_of(double draw, std::int64_t place) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &draw, sizeof bits);
  return bits ^ (static_cast<std::uint64_t>(place) * 0x9E3779B97F4A7C15U);
}

void draw_gammas(const Tensor& out, const Tensor& concentration) {
  fill_uniform(out, 0.0, 1.0);
  if (!out.has_values() || lacks_values(concentration)) return;
  visit_computed(out.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> seeds(out);
    const HostInput<T> shapes(concentration);
    std::vector<double> draws(static_cast<std::size_t>(out.numel()));
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      Draws source(seed_of(static_cast<double>(seeds.data()[i]), i));
      draws[static_cast<std::size_t>(i)] =
          drawn_gamma(static_cast<double>(shapes.data()[i]), source);
    }
    store_values(out, draws);
  });
}

/// fn(a[i], b[i], c[i]) into `out`, all of one shape.
template <class F>
void compute_of_three(const Tensor& out, const Tensor& a, const Tensor& b, const Tensor& c, F fn) {
  if (!out.has_values() || lacks_values(a) || lacks_values(b) || lacks_values(c)) return;
  visit_computed(out.dtype(), [&]<class T>(TypeTag<T>) {
    const HostInput<T> first(a);
    const HostInput<T> second(b);
    const HostInput<T> third(c);
    HostOutput<T> target(out);
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      target.data()[i] = static_cast<T>(fn(static_cast<double>(first.data()[i]),
                                           static_cast<double>(second.data()[i]),
                                           static_cast<double>(third.data()[i])));
    }
    target.commit();
  });
}

Tensor slope_of_gamma(const Tensor& concentration, const Tensor& draws) {
  Tensor slope = empty_for_loop(draws.shape(), {&concentration, &draws}, options_of(concentration));
  compute_of_three(slope, concentration, draws, draws, [](double shape, double x, double /*x*/) {
    return slope_of_gamma_draw(shape, x);
  });
  return slope;
}

// Python's function, with its variables.
Tensor dirichlet_gradient(const Tensor& grad, const Tensor& draws, const Tensor& concentration) {
  Tensor total;
  {
    const Tensor sums = ops::sum(concentration, Shape{-1}, true, std::nullopt);
    total = ops::expand(sums, concentration.shape());
  }
  Tensor slope = empty(draws.shape(), options_of(draws));
  compute_of_three(slope, draws, concentration, total, &slope_of_dirichlet_draw);
  Tensor share = ops::mul(draws, grad);
  share = ops::sum(share, Shape{-1}, true, std::nullopt);
  share = ops::sub(grad, share);
  Tensor result = ops::mul(slope, share);
  share = Tensor();
  total = Tensor();
  return result;
}

}  // namespace

Tensor standard_gamma(const Tensor& concentration) {
  Recorder record("StandardGammaBackward", {&concentration});
  record.save(concentration);
  Tensor out = empty(concentration.shape(), options_of(concentration));
  draw_gammas(out, concentration);
  record.save_output(out);
  record.attach_differentiable(out, [](BackwardCall& call) {
    const Tensor slope = slope_of_gamma(call.saved(0), call.saved(1));
    return TensorList{ops::mul(call.grad(), slope)};
  });
  return out;
}

Tensor standard_dirichlet(const Tensor& concentration) {
  Recorder record("_DirichletBackward", {&concentration});
  Tensor out = empty(concentration.shape(), options_of(concentration));
  {
    const NoGradGuard no_grad;
    draw_gammas(out, concentration);
    const Tensor sums = ops::sum(out, Shape{-1}, true, std::nullopt);
    map_floating(out, out.dtype(), functors::Quotient(), out, sums);
  }
  record.save_output(out);
  record.save(concentration);
  record.attach(out, [](BackwardCall& call) {
    return TensorList{dirichlet_gradient(call.grad(), call.saved(0), call.saved(1))};
  });
  return out;
}

}  // namespace ohm::distributions
