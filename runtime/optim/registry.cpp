#include "runtime/optim/registry.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/optim/adam.h"
#include "runtime/optim/sgd.h"

namespace ohm::optim {
namespace {

using ops::ParamName;

template <class... Args>
OptimizerDef define(std::string_view name, OptimizerPtr (*make)(Args...),
                    std::vector<ParamName> names) {
  const auto call = [make](std::span<const ops::Value> values) {
    return ops::invoke(make, values);
  };
  return {name, ops::params_of<Args...>(std::move(names)), call};
}

// `foreach` and `fused` as a user gives them; neither given: PyTorch's own choice.
Form chosen_form(const std::vector<Tensor>& parameters, std::optional<bool> foreach, bool fused) {
  if (fused && foreach.value_or(false)) {
    throw std::invalid_argument("[optimizer] fused and foreach cannot be true together");
  }
  if (fused) return Form::fused;
  if (!foreach) return default_form(parameters);
  return *foreach ? Form::foreach_list : Form::for_loop;
}

OptimizerPtr make_sgd(const std::vector<Tensor>& parameters, double lr, double momentum,
                      double dampening, double weight_decay, bool nesterov, bool maximize,
                      std::optional<bool> foreach, bool fused) {
  return std::make_shared<Sgd>(parameters,
                               SgdOptions{lr, momentum, dampening, weight_decay, nesterov, maximize,
                                          chosen_form(parameters, foreach, fused)});
}

OptimizerPtr make_adam_of(WeightDecay decay, const std::vector<Tensor>& parameters, double lr,
                          const std::vector<double>& betas, double eps, double weight_decay,
                          bool amsgrad, bool maximize, Form form) {
  if (betas.size() != 2) {
    throw std::invalid_argument(
        fmt::format("[Adam] betas must be two numbers, got {}", betas.size()));
  }
  return std::make_shared<Adam>(parameters, AdamOptions{lr, betas[0], betas[1], eps, weight_decay,
                                                        decay, amsgrad, maximize, form});
}

OptimizerPtr make_adam(const std::vector<Tensor>& parameters, double lr,
                       const std::vector<double>& betas, double eps, double weight_decay,
                       bool amsgrad, bool maximize, std::optional<bool> foreach, bool fused) {
  return make_adam_of(WeightDecay::coupled, parameters, lr, betas, eps, weight_decay, amsgrad,
                      maximize, chosen_form(parameters, foreach, fused));
}

OptimizerPtr make_adamw(const std::vector<Tensor>& parameters, double lr,
                        const std::vector<double>& betas, double eps, double weight_decay,
                        bool amsgrad, bool maximize, std::optional<bool> foreach, bool fused) {
  return make_adam_of(WeightDecay::decoupled, parameters, lr, betas, eps, weight_decay, amsgrad,
                      maximize, chosen_form(parameters, foreach, fused));
}

std::vector<ParamName> adam_names(double weight_decay) {
  return {"params",
          {"lr", 1e-3},
          {"betas", std::vector<double>{0.9, 0.999}},
          {"eps", 1e-8},
          {"weight_decay", weight_decay},
          {"amsgrad", false},
          {"maximize", false},
          "foreach",
          {"fused", false}};
}

}  // namespace

const std::vector<OptimizerDef>& all_optimizers() {
  static const std::vector<OptimizerDef> optimizers = {
      define("SGD", &make_sgd,
             {"params",
              {"lr", 1e-3},
              {"momentum", 0.0},
              {"dampening", 0.0},
              {"weight_decay", 0.0},
              {"nesterov", false},
              {"maximize", false},
              "foreach",
              {"fused", false}}),
      define("Adam", &make_adam, adam_names(0.0)),
      define("AdamW", &make_adamw, adam_names(1e-2)),
  };
  return optimizers;
}

}  // namespace ohm::optim
