#include "runtime/optim/registry.h"

#include <fmt/core.h>

#include <stdexcept>

#include "runtime/optim/adadelta.h"
#include "runtime/optim/adagrad.h"
#include "runtime/optim/adam.h"
#include "runtime/optim/adamax.h"
#include "runtime/optim/asgd.h"
#include "runtime/optim/nadam.h"
#include "runtime/optim/radam.h"
#include "runtime/optim/rmsprop.h"
#include "runtime/optim/rprop.h"
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

using Parameters = std::vector<Tensor>;
using Flag = std::optional<bool>;
using Betas = std::vector<double>;

// `foreach` and `fused` as a user gives them; neither given: PyTorch's own choice.
Form chosen_form(const Parameters& parameters, Flag foreach, bool fused = false) {
  if (fused && foreach.value_or(false)) {
    throw std::invalid_argument("[optimizer] fused and foreach cannot be true together");
  }
  if (fused) return Form::fused;
  if (!foreach) return default_form(parameters);
  return *foreach ? Form::foreach_list : Form::for_loop;
}

void require_pair(const Betas& pair, std::string_view name = "betas") {
  if (pair.size() == 2) return;
  throw std::invalid_argument(
      fmt::format("[optimizer] {} must be two numbers, got {}", name, pair.size()));
}

OptimizerPtr make_sgd(const Parameters& parameters, double lr, double momentum, double dampening,
                      double weight_decay, bool nesterov, bool maximize, Flag foreach, bool fused) {
  return std::make_shared<Sgd>(parameters,
                               SgdOptions{lr, momentum, dampening, weight_decay, nesterov, maximize,
                                          chosen_form(parameters, foreach, fused)});
}

template <WeightDecay D>
OptimizerPtr make_adam(const Parameters& parameters, double lr, const Betas& betas, double eps,
                       double weight_decay, bool amsgrad, bool maximize, Flag foreach, bool fused,
                       bool capturable) {
  require_pair(betas);
  return std::make_shared<Adam>(
      parameters, AdamOptions{lr, betas[0], betas[1], eps, weight_decay, D, amsgrad, maximize,
                              capturable, chosen_form(parameters, foreach, fused)});
}

OptimizerPtr make_adamax(const Parameters& parameters, double lr, const Betas& betas, double eps,
                         double weight_decay, bool maximize, Flag foreach) {
  require_pair(betas);
  return std::make_shared<Adamax>(parameters,
                                  AdamaxOptions{lr, betas[0], betas[1], eps, weight_decay, maximize,
                                                chosen_form(parameters, foreach)});
}

OptimizerPtr make_nadam(const Parameters& parameters, double lr, const Betas& betas, double eps,
                        double weight_decay, double momentum_decay, bool decoupled_weight_decay,
                        bool maximize, Flag foreach) {
  require_pair(betas);
  return std::make_shared<Nadam>(
      parameters, NadamOptions{lr, betas[0], betas[1], eps, weight_decay, momentum_decay,
                               decoupled_weight_decay, maximize, chosen_form(parameters, foreach)});
}

OptimizerPtr make_radam(const Parameters& parameters, double lr, const Betas& betas, double eps,
                        double weight_decay, bool decoupled_weight_decay, bool maximize,
                        Flag foreach) {
  require_pair(betas);
  return std::make_shared<Radam>(
      parameters, RadamOptions{lr, betas[0], betas[1], eps, weight_decay, decoupled_weight_decay,
                               maximize, chosen_form(parameters, foreach)});
}

OptimizerPtr make_adagrad(const Parameters& parameters, double lr, double lr_decay,
                          double weight_decay, double initial_accumulator_value, double eps,
                          bool maximize, Flag foreach) {
  return std::make_shared<Adagrad>(
      parameters, AdagradOptions{lr, lr_decay, weight_decay, initial_accumulator_value, eps,
                                 maximize, chosen_form(parameters, foreach)});
}

OptimizerPtr make_adadelta(const Parameters& parameters, double lr, double rho, double eps,
                           double weight_decay, bool maximize, Flag foreach) {
  return std::make_shared<Adadelta>(
      parameters,
      AdadeltaOptions{lr, rho, eps, weight_decay, maximize, chosen_form(parameters, foreach)});
}

OptimizerPtr make_rmsprop(const Parameters& parameters, double lr, double alpha, double eps,
                          double weight_decay, double momentum, bool centered, bool maximize,
                          Flag foreach) {
  return std::make_shared<Rmsprop>(
      parameters, RmspropOptions{lr, alpha, eps, weight_decay, momentum, centered, maximize,
                                 chosen_form(parameters, foreach)});
}

OptimizerPtr make_asgd(const Parameters& parameters, double lr, double lambd, double alpha,
                       double t0, double weight_decay, Flag foreach, bool maximize) {
  return std::make_shared<Asgd>(
      parameters,
      AsgdOptions{lr, lambd, alpha, t0, weight_decay, maximize, chosen_form(parameters, foreach)});
}

OptimizerPtr make_rprop(const Parameters& parameters, double lr, const Betas& etas,
                        const Betas& step_sizes, Flag foreach, bool maximize) {
  require_pair(etas, "etas");
  require_pair(step_sizes, "step_sizes");
  return std::make_shared<Rprop>(
      parameters, RpropOptions{lr, etas[0], etas[1], step_sizes[0], step_sizes[1], maximize,
                               chosen_form(parameters, foreach)});
}

const ParamName kParams = "params";
const ParamName kForeach = "foreach";
const ParamName kBetas{"betas", Betas{0.9, 0.999}};
const ParamName kMaximize{"maximize", false};
const ParamName kFused{"fused", false};
const ParamName kDecoupled{"decoupled_weight_decay", false};

ParamName lr(double value) { return {"lr", value}; }
ParamName eps(double value) { return {"eps", value}; }
ParamName weight_decay(double value) { return {"weight_decay", value}; }

std::vector<ParamName> adam_names(double decay) {
  return {kParams,
          lr(1e-3),
          kBetas,
          eps(1e-8),
          weight_decay(decay),
          {"amsgrad", false},
          kMaximize,
          kForeach,
          kFused,
          {"capturable", false}};
}

}  // namespace

const std::vector<OptimizerDef>& all_optimizers() {
  static const std::vector<OptimizerDef> optimizers = {
      define("SGD", &make_sgd,
             {kParams,
              lr(1e-3),
              {"momentum", 0.0},
              {"dampening", 0.0},
              weight_decay(0.0),
              {"nesterov", false},
              kMaximize,
              kForeach,
              kFused}),
      define("Adam", &make_adam<WeightDecay::coupled>, adam_names(0.0)),
      define("AdamW", &make_adam<WeightDecay::decoupled>, adam_names(1e-2)),
      define("Adamax", &make_adamax,
             {kParams, lr(2e-3), kBetas, eps(1e-8), weight_decay(0.0), kMaximize, kForeach}),
      define("NAdam", &make_nadam,
             {kParams,
              lr(2e-3),
              kBetas,
              eps(1e-8),
              weight_decay(0.0),
              {"momentum_decay", 4e-3},
              kDecoupled,
              kMaximize,
              kForeach}),
      define("RAdam", &make_radam,
             {kParams, lr(1e-3), kBetas, eps(1e-8), weight_decay(0.0), kDecoupled, kMaximize,
              kForeach}),
      define("Adagrad", &make_adagrad,
             {kParams,
              lr(1e-2),
              {"lr_decay", 0.0},
              weight_decay(0.0),
              {"initial_accumulator_value", 0.0},
              eps(1e-10),
              kMaximize,
              kForeach}),
      define("Adadelta", &make_adadelta,
             {kParams, lr(1.0), {"rho", 0.9}, eps(1e-6), weight_decay(0.0), kMaximize, kForeach}),
      define("RMSprop", &make_rmsprop,
             {kParams,
              lr(1e-2),
              {"alpha", 0.99},
              eps(1e-8),
              weight_decay(0.0),
              {"momentum", 0.0},
              {"centered", false},
              kMaximize,
              kForeach}),
      define("ASGD", &make_asgd,
             {kParams,
              lr(1e-2),
              {"lambd", 1e-4},
              {"alpha", 0.75},
              {"t0", 1e6},
              weight_decay(0.0),
              kForeach,
              kMaximize}),
      define("Rprop", &make_rprop,
             {kParams,
              lr(1e-2),
              {"etas", Betas{0.5, 1.2}},
              {"step_sizes", Betas{1e-6, 50.0}},
              kForeach,
              kMaximize}),
  };
  return optimizers;
}

}  // namespace ohm::optim
