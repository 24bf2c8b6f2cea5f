#include "runtime/optim/sgd.h"

#include <stdexcept>

#include "runtime/optim/update_kernel.h"
#include "runtime/tensor/arithmetic.h"

namespace ohm::optim {

Sgd::Sgd(std::vector<Tensor> parameters, const SgdOptions& options)
    : Optimizer(std::move(parameters), options.lr), options_(options) {
  if (options.nesterov && (options.momentum <= 0.0 || options.dampening != 0.0)) {
    throw std::invalid_argument("[SGD] nesterov requires a momentum and zero dampening");
  }
}

void Sgd::update(const std::vector<Tensor>& parameters) {
  const GradientRule rule{options_.weight_decay, options_.maximize};
  if (options_.form == Form::for_loop) {
    for (const Tensor& parameter : parameters) {
      const Tensor grad = effective_gradient(parameter, rule);
      apply(parameter, with_momentum(parameter, grad));
    }
    return;
  }
  const bool is_fused = options_.form == Form::fused;
  TensorList directions;
  for (const Tensor& parameter : parameters) {
    Tensor grad = effective_gradient(parameter, rule);
    if (is_fused) {
      apply(parameter, with_momentum(parameter, grad));
    } else {
      directions.push_back(std::move(grad));
    }
  }
  for (std::size_t i = 0; i < directions.size(); ++i) {
    directions[i] = with_momentum(parameters[i], directions[i]);
  }
  for (std::size_t i = 0; i < directions.size(); ++i) apply(parameters[i], directions[i]);
}

Tensor Sgd::with_momentum(const Tensor& parameter, const Tensor& grad) {
  if (options_.momentum == 0.0) return grad;
  Tensor& buffer = momentum_[parameter.impl()];
  if (!buffer.defined()) {
    buffer = copy_of(grad);
  } else {
    const double momentum = options_.momentum;
    const double share = 1.0 - options_.dampening;
    update_with(buffer, grad, [momentum, share](auto v, auto g) {
      using T = decltype(v);
      return static_cast<T>(momentum) * v + static_cast<T>(share) * g;
    });
  }
  if (!options_.nesterov) return buffer;
  // As PyTorch's foreach form: the gradient itself becomes the look-ahead direction.
  update_with(grad, buffer, [momentum = options_.momentum](auto g, auto v) {
    return g + static_cast<decltype(g)>(momentum) * v;
  });
  return grad;
}

void Sgd::apply(const Tensor& parameter, const Tensor& direction) const {
  update_with(parameter, direction, [lr = learning_rate()](auto p, auto d) {
    return p - static_cast<decltype(p)>(lr) * d;
  });
}

}  // namespace ohm::optim
