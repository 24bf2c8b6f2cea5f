#include "runtime/nn/registry.h"

#include "runtime/nn/linear.h"
#include "runtime/nn/sequential.h"
#include "runtime/ops/activation.h"
#include "runtime/ops/view.h"

namespace ohm::nn {
namespace {

using ops::ParamName;

template <class... Args>
ModuleDef define(std::string_view name, ModulePtr (*make)(Args...), std::vector<ParamName> names) {
  const auto call = [make](std::span<const Value> values) { return ops::invoke(make, values); };
  return {name, ops::params_of<Args...>(std::move(names)), call};
}

ModulePtr function_module(std::string_view name, FunctionModule::Function function) {
  return std::make_shared<FunctionModule>(name, std::move(function));
}

ModulePtr make_linear(std::int64_t in_features, std::int64_t out_features, bool bias,
                      std::optional<Device> device, std::optional<DType> dtype) {
  return std::make_shared<Linear>(in_features, out_features, bias,
                                  parameter_options(device, dtype));
}

ModulePtr make_relu(bool inplace) {
  return function_module("ReLU", inplace ? &ops::relu_ : &ops::relu);
}
ModulePtr make_gelu() { return function_module("GELU", &ops::gelu); }
ModulePtr make_silu() { return function_module("SiLU", &ops::silu); }
ModulePtr make_sigmoid() { return function_module("Sigmoid", &ops::sigmoid); }
ModulePtr make_tanh() { return function_module("Tanh", &ops::tanh); }
ModulePtr make_leaky_relu(double negative_slope) {
  return function_module("LeakyReLU", [negative_slope](const Tensor& input) {
    return ops::leaky_relu(input, negative_slope);
  });
}
ModulePtr make_identity() {
  return function_module("Identity", [](const Tensor& input) { return input; });
}
ModulePtr make_flatten(std::int64_t start_dim, std::int64_t end_dim) {
  return function_module("Flatten", [start_dim, end_dim](const Tensor& input) {
    return ops::flatten(input, start_dim, end_dim);
  });
}

}  // namespace

const std::vector<ModuleDef>& all_modules() {
  static const std::vector<ModuleDef> modules = {
      define("Linear", &make_linear,
             {"in_features", "out_features", {"bias", true}, "device", "dtype"}),
      define("ReLU", &make_relu, {{"inplace", false}}),
      define("GELU", &make_gelu, {}),
      define("SiLU", &make_silu, {}),
      define("Sigmoid", &make_sigmoid, {}),
      define("Tanh", &make_tanh, {}),
      define("LeakyReLU", &make_leaky_relu, {{"negative_slope", 0.01}}),
      define("Identity", &make_identity, {}),
      define("Flatten", &make_flatten,
             {{"start_dim", std::int64_t{1}}, {"end_dim", std::int64_t{-1}}}),
  };
  return modules;
}

}  // namespace ohm::nn
