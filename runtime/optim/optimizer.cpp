#include "runtime/optim/optimizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "runtime/autograd/grad_mode.h"
#include "runtime/tensor/factories.h"

namespace ohm::optim {

Optimizer::Optimizer(std::vector<Tensor> parameters, double lr)
    : parameters_(std::move(parameters)), lr_(lr) {
  if (parameters_.empty()) {
    throw std::invalid_argument("[optimizer] got an empty parameter list");
  }
  if (!(lr >= 0.0)) {
    throw std::invalid_argument(fmt::format("[optimizer] invalid learning rate: {}", lr));
  }
  for (const Tensor& parameter : parameters_) {
    if (!parameter.is_leaf()) {
      throw std::invalid_argument("[optimizer] can't optimize a non-leaf tensor");
    }
  }
}

void Optimizer::step() {
  const NoGradGuard no_grad;
  const CategoryGuard category(Category::optimizer_state);
  std::vector<Tensor> with_gradient;
  for (const Tensor& parameter : parameters_) {
    if (parameter.grad().defined()) with_gradient.push_back(parameter);
  }
  if (!with_gradient.empty()) update(with_gradient);
}

void Optimizer::zero_grad(bool set_to_none) {
  for (const Tensor& parameter : parameters_) {
    if (set_to_none) {
      parameter.set_grad(Tensor());
    } else if (parameter.grad().defined()) {
      fill_values(parameter.grad(), 0.0);
      parameter.grad().storage().bump_version();
    }
  }
}

Form default_form(const std::vector<Tensor>& parameters) {
  const bool all_on_gpus = std::all_of(parameters.begin(), parameters.end(),
                                       [](const Tensor& p) { return p.device().is_cuda(); });
  return all_on_gpus ? Form::foreach_list : Form::for_loop;
}

}  // namespace ohm::optim
