#include "runtime/optim/update_kernel.h"

namespace ohm::optim {

Tensor effective_gradient(const Tensor& parameter, const GradientRule& rule) {
  Tensor grad = parameter.grad();
  if (rule.maximize) grad = new_from(grad, [](auto g) { return -g; });
  if (rule.weight_decay != 0.0) {
    const auto decay = [weight = rule.weight_decay](auto g, auto p) {
      return g + static_cast<decltype(g)>(weight) * p;
    };
    // A gradient that is a temporary already is changed in place.
    if (rule.maximize) {
      update_with(grad, parameter, decay);
    } else {
      grad = new_from(grad, parameter, decay);
    }
  }
  return grad;
}

}  // namespace ohm::optim
