#include "runtime/optim/registry.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "runtime/optim/adadelta.h"
#include "runtime/optim/adafactor.h"
#include "runtime/optim/adagrad.h"
#include "runtime/optim/adam.h"
#include "runtime/optim/adamax.h"
#include "runtime/optim/asgd.h"
#include "runtime/optim/lbfgs.h"
#include "runtime/optim/nadam.h"
#include "runtime/optim/radam.h"
#include "runtime/optim/rmsprop.h"
#include "runtime/optim/rprop.h"
#include "runtime/optim/sgd.h"

namespace ohm::optim {
namespace {

using ops::ParamKind;
using ops::Value;
using Parameters = std::vector<Tensor>;

/// How a user chooses the Form: by `foreach` and `fused`.
enum class FormFlag : std::uint8_t { foreach, fused };

/// An option that is a list of two numbers: betas.
template <class Options>
struct Pair {
  double Options::*first;
  double Options::*second;
};

/// An option by its name, and the member of Options that it sets, which has its default.
template <class Options>
struct Option {
  std::string_view name;
  std::variant<double Options::*, bool Options::*, std::int64_t Options::*,
               std::optional<std::int64_t> Options::*, std::optional<std::string> Options::*,
               Pair<Options>, std::array<double, 3> Options::*, FormFlag>
      target;
};

/// The parameter that stands for an option.
template <class Options>
struct ParamMaker {
  std::string_view name;
  const Options& defaults;

  ops::Param with(ParamKind kind, Value fallback) const {
    return {name, kind, /*is_optional=*/true, std::move(fallback)};
  }
  ops::Param operator()(double Options::*member) const {
    return with(ParamKind::number, defaults.*member);
  }
  ops::Param operator()(bool Options::*member) const {
    return with(ParamKind::boolean, defaults.*member);
  }
  ops::Param operator()(std::int64_t Options::*member) const {
    return with(ParamKind::integer, defaults.*member);
  }
  // None is PyTorch's default of both.
  ops::Param operator()(std::optional<std::int64_t> Options::* /*member*/) const {
    return with(ParamKind::integer, Value());
  }
  ops::Param operator()(std::optional<std::string> Options::* /*member*/) const {
    return with(ParamKind::string, Value());
  }
  ops::Param operator()(const Pair<Options>& pair) const {
    return with(ParamKind::number_list,
                std::vector<double>{defaults.*pair.first, defaults.*pair.second});
  }
  ops::Param operator()(std::array<double, 3> Options::*member) const {
    const std::array<double, 3>& numbers = defaults.*member;
    return with(ParamKind::number_list, std::vector<double>(numbers.begin(), numbers.end()));
  }
  ops::Param operator()(FormFlag flag) const {
    return with(ParamKind::boolean, flag == FormFlag::fused ? Value(false) : Value());
  }
};

/// Options as a user gives them.
template <class Options>
struct Given {
  Options options;
  std::optional<bool> foreach = std::nullopt;
  bool fused = false;
};

/// Sets an option to a value of its parameter's kind.
template <class Options>
struct OptionSetter {
  std::string_view name;
  const Value& value;
  Given<Options>& given;

  void operator()(double Options::*member) const {
    given.options.*member = std::get<double>(value);
  }
  void operator()(bool Options::*member) const { given.options.*member = std::get<bool>(value); }
  void operator()(std::int64_t Options::*member) const {
    given.options.*member = std::get<std::int64_t>(value);
  }
  void operator()(std::optional<std::int64_t> Options::*member) const {
    given.options.*member = ops::ParamTraits<std::optional<std::int64_t>>::get(value);
  }
  void operator()(std::optional<std::string> Options::*member) const {
    given.options.*member = ops::ParamTraits<std::optional<std::string>>::get(value);
  }
  void operator()(const Pair<Options>& pair) const {
    const auto& numbers = std::get<std::vector<double>>(value);
    if (numbers.size() != 2) {
      throw std::invalid_argument(
          fmt::format("[optimizer] {} must be two numbers, got {}", name, numbers.size()));
    }
    given.options.*pair.first = numbers[0];
    given.options.*pair.second = numbers[1];
  }
  void operator()(std::array<double, 3> Options::*member) const {
    const auto& numbers = std::get<std::vector<double>>(value);
    if (numbers.size() != 3) {
      throw std::invalid_argument(
          fmt::format("[optimizer] {} must be three numbers, got {}", name, numbers.size()));
    }
    std::copy(numbers.begin(), numbers.end(), (given.options.*member).begin());
  }
  void operator()(FormFlag flag) const {
    if (flag == FormFlag::fused) {
      given.fused = std::get<bool>(value);
    } else if (!std::holds_alternative<std::monostate>(value)) {
      given.foreach = std::get<bool>(value);
    }
  }
};

// Neither `foreach` nor `fused` given: PyTorch's own choice.
Form chosen_form(const Parameters& parameters, std::optional<bool> foreach, bool fused) {
  if (fused && foreach.value_or(false)) {
    throw std::invalid_argument("[optimizer] fused and foreach cannot be true together");
  }
  if (fused) return Form::fused;
  if (!foreach) return default_form(parameters);
  return *foreach ? Form::foreach_list : Form::for_loop;
}

/// The row of an optimizer. Options stand in the order in which PyTorch takes them.
template <class T, class Options>
OptimizerDef define(std::string_view name, std::vector<Option<Options>> rows,
                    const Options& defaults = {}) {
  std::vector<ops::Param> params = {
      {"params", ParamKind::tensor_list, /*is_optional=*/false, {}, /*is_constant=*/false}};
  for (const Option<Options>& row : rows) {
    params.push_back(std::visit(ParamMaker<Options>{row.name, defaults}, row.target));
  }
  const auto make = [rows = std::move(rows), defaults](std::span<const Value> values) {
    const auto& parameters = std::get<Parameters>(values[0]);
    Given<Options> given{defaults};
    for (std::size_t i = 0; i < rows.size(); ++i) {
      std::visit(OptionSetter<Options>{rows[i].name, values[i + 1], given}, rows[i].target);
    }
    if constexpr (requires { given.options.form; }) {
      given.options.form = chosen_form(parameters, given.foreach, given.fused);
    }
    return std::make_shared<T>(parameters, given.options);
  };
  return {name, std::move(params), make};
}

template <class Options>
Option<Options> betas() {
  return {"betas", Pair<Options>{&Options::beta1, &Options::beta2}};
}

OptimizerDef adam(std::string_view name, const AdamOptions& defaults) {
  using O = AdamOptions;
  return define<Adam, O>(name,
                         {{"lr", &O::lr},
                          betas<O>(),
                          {"eps", &O::eps},
                          {"weight_decay", &O::weight_decay},
                          {"amsgrad", &O::amsgrad},
                          {"maximize", &O::maximize},
                          {"foreach", FormFlag::foreach},
                          {"fused", FormFlag::fused},
                          {"capturable", &O::capturable}},
                         defaults);
}

OptimizerDef sgd() {
  using O = SgdOptions;
  return define<Sgd, O>("SGD", {{"lr", &O::lr},
                                {"momentum", &O::momentum},
                                {"dampening", &O::dampening},
                                {"weight_decay", &O::weight_decay},
                                {"nesterov", &O::nesterov},
                                {"maximize", &O::maximize},
                                {"foreach", FormFlag::foreach},
                                {"fused", FormFlag::fused}});
}

OptimizerDef adamax() {
  using O = AdamaxOptions;
  return define<Adamax, O>("Adamax", {{"lr", &O::lr},
                                      betas<O>(),
                                      {"eps", &O::eps},
                                      {"weight_decay", &O::weight_decay},
                                      {"maximize", &O::maximize},
                                      {"foreach", FormFlag::foreach}});
}

OptimizerDef nadam() {
  using O = NadamOptions;
  return define<Nadam, O>("NAdam", {{"lr", &O::lr},
                                    betas<O>(),
                                    {"eps", &O::eps},
                                    {"weight_decay", &O::weight_decay},
                                    {"momentum_decay", &O::momentum_decay},
                                    {"decoupled_weight_decay", &O::decoupled_weight_decay},
                                    {"maximize", &O::maximize},
                                    {"foreach", FormFlag::foreach}});
}

OptimizerDef radam() {
  using O = RadamOptions;
  return define<Radam, O>("RAdam", {{"lr", &O::lr},
                                    betas<O>(),
                                    {"eps", &O::eps},
                                    {"weight_decay", &O::weight_decay},
                                    {"decoupled_weight_decay", &O::decoupled_weight_decay},
                                    {"maximize", &O::maximize},
                                    {"foreach", FormFlag::foreach}});
}

OptimizerDef adagrad() {
  using O = AdagradOptions;
  return define<Adagrad, O>("Adagrad",
                            {{"lr", &O::lr},
                             {"lr_decay", &O::lr_decay},
                             {"weight_decay", &O::weight_decay},
                             {"initial_accumulator_value", &O::initial_accumulator_value},
                             {"eps", &O::eps},
                             {"maximize", &O::maximize},
                             {"foreach", FormFlag::foreach}});
}

OptimizerDef adafactor() {
  using O = AdafactorOptions;
  return define<Adafactor, O>("Adafactor", {{"lr", &O::lr},
                                            {"beta2_decay", &O::beta2_decay},
                                            {"d", &O::d},
                                            {"weight_decay", &O::weight_decay},
                                            {"maximize", &O::maximize}});
}

OptimizerDef adadelta() {
  using O = AdadeltaOptions;
  return define<Adadelta, O>("Adadelta", {{"lr", &O::lr},
                                          {"rho", &O::rho},
                                          {"eps", &O::eps},
                                          {"weight_decay", &O::weight_decay},
                                          {"maximize", &O::maximize},
                                          {"foreach", FormFlag::foreach}});
}

OptimizerDef rmsprop() {
  using O = RmspropOptions;
  return define<Rmsprop, O>("RMSprop", {{"lr", &O::lr},
                                        {"alpha", &O::alpha},
                                        {"eps", &O::eps},
                                        {"weight_decay", &O::weight_decay},
                                        {"momentum", &O::momentum},
                                        {"centered", &O::centered},
                                        {"maximize", &O::maximize},
                                        {"foreach", FormFlag::foreach}});
}

OptimizerDef asgd() {
  using O = AsgdOptions;
  return define<Asgd, O>("ASGD", {{"lr", &O::lr},
                                  {"lambd", &O::lambd},
                                  {"alpha", &O::alpha},
                                  {"t0", &O::t0},
                                  {"weight_decay", &O::weight_decay},
                                  {"foreach", FormFlag::foreach},
                                  {"maximize", &O::maximize}});
}

OptimizerDef lbfgs() {
  using O = LbfgsOptions;
  return define<Lbfgs, O>("LBFGS", {{"lr", &O::lr},
                                    {"max_iter", &O::max_iter},
                                    {"max_eval", &O::max_eval},
                                    {"tolerance_grad", &O::tolerance_grad},
                                    {"tolerance_change", &O::tolerance_change},
                                    {"history_size", &O::history_size},
                                    {"line_search_fn", &O::line_search_fn},
                                    {"maximize", &O::maximize}});
}

OptimizerDef rprop() {
  using O = RpropOptions;
  return define<Rprop, O>("Rprop", {{"lr", &O::lr},
                                    {"etas", Pair<O>{&O::eta_minus, &O::eta_plus}},
                                    {"step_sizes", Pair<O>{&O::step_size_min, &O::step_size_max}},
                                    {"foreach", FormFlag::foreach},
                                    {"maximize", &O::maximize}});
}

}  // namespace

const std::vector<OptimizerDef>& all_optimizers() {
  static const std::vector<OptimizerDef> optimizers = {
      sgd(),
      adam("Adam", {}),
      adam("AdamW", {.weight_decay = 1e-2, .decay = WeightDecay::decoupled}),
      adamax(),
      nadam(),
      radam(),
      adagrad(),
      adadelta(),
      rmsprop(),
      asgd(),
      rprop(),
      adafactor(),
      lbfgs(),
  };
  return optimizers;
}

}  // namespace ohm::optim
