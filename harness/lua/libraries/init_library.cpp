#include "harness/lua/libraries/init_library.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/lua/bind/native.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/tensor_handle.h"
#include "runtime/arithmetic/factories.h"
#include "runtime/autograd/grad_mode.h"
#include "runtime/autograd/variable.h"
#include "runtime/nn/initialization.h"

namespace ohm::lua {
namespace {

using ops::Param;
using ops::ParamKind;
using ops::Value;

/// The arguments of a function, the first of which is the tensor that it fills and gives back.
class Filling {
 public:
  Filling(lua_State* L, std::string_view function, const std::vector<ops::ParamName>& names,
          const std::vector<ParamKind>& kinds)
      : state_(L), function_(function) {
    std::vector<Param> params = {
        {"tensor", ParamKind::tensor, /*is_optional=*/false, {}, /*is_constant=*/false}};
    for (std::size_t i = 0; i < names.size(); ++i) {
      const bool is_optional = !std::holds_alternative<std::monostate>(names[i].fallback);
      params.push_back({names[i].name, kinds[i], is_optional, names[i].fallback});
    }
    values_ = read_parameters(L, function, params);
    begin_inplace_write(tensor(), function);
  }

  const Tensor& tensor() const { return std::get<Tensor>(values_[0]); }
  double number(std::size_t i) const { return std::get<double>(values_[i + 1]); }
  const std::string& text(std::size_t i) const { return std::get<std::string>(values_[i + 1]); }
  std::string_view function() const { return function_; }

  int done() const {
    push_tensor(state_, tensor());
    return 1;
  }

 private:
  lua_State* state_;
  std::string_view function_;
  const GradModeGuard no_graph_{false};
  std::vector<Value> values_;
};

/// A function with numbers alone.
Filling with_numbers(lua_State* L, std::string_view function,
                     const std::vector<ops::ParamName>& names) {
  return {L, function, names, std::vector<ParamKind>(names.size(), ParamKind::number)};
}

int uniform(lua_State* L) {
  const Filling call = with_numbers(L, "uniform_", {{"a", 0.0}, {"b", 1.0}});
  fill_uniform(call.tensor(), call.number(0), call.number(1));
  return call.done();
}

int normal(lua_State* L) {
  const Filling call = with_numbers(L, "normal_", {{"mean", 0.0}, {"std", 1.0}});
  fill_normal(call.tensor(), call.number(0), call.number(1));
  return call.done();
}

int trunc_normal(lua_State* L) {
  const Filling call =
      with_numbers(L, "trunc_normal_", {{"mean", 0.0}, {"std", 1.0}, {"a", -2.0}, {"b", 2.0}});
  nn::init::fill_truncated_normal(call.tensor(), call.number(0), call.number(1), call.number(2),
                                  call.number(3));
  return call.done();
}

int constant(lua_State* L) {
  const Filling call = with_numbers(L, "constant_", {"val"});
  fill_values(call.tensor(), call.number(0));
  return call.done();
}

int fill_ones(lua_State* L) {
  const Filling call = with_numbers(L, "ones_", {});
  fill_values(call.tensor(), 1.0);
  return call.done();
}

int fill_zeros(lua_State* L) {
  const Filling call = with_numbers(L, "zeros_", {});
  fill_values(call.tensor(), 0.0);
  return call.done();
}

int orthogonal(lua_State* L) {
  const Filling call = with_numbers(L, "orthogonal_", {{"gain", 1.0}});
  nn::init::fill_orthogonal(call.tensor(), call.number(0));
  return call.done();
}

// The bounds of a uniform distribution with this deviation.
void fill_symmetric(const Tensor& tensor, double deviation) {
  const double bound = std::sqrt(3.0) * deviation;
  fill_uniform(tensor, -bound, bound);
}

double xavier_deviation(const Filling& call) {
  const nn::init::Fans fans = nn::init::fans_of(call.tensor(), call.function());
  return call.number(0) * std::sqrt(2.0 / (fans.in + fans.out));
}

int xavier_uniform(lua_State* L) {
  const Filling call = with_numbers(L, "xavier_uniform_", {{"gain", 1.0}});
  fill_symmetric(call.tensor(), xavier_deviation(call));
  return call.done();
}

int xavier_normal(lua_State* L) {
  const Filling call = with_numbers(L, "xavier_normal_", {{"gain", 1.0}});
  fill_normal(call.tensor(), 0.0, xavier_deviation(call));
  return call.done();
}

// f(tensor [, a, mode, nonlinearity])
Filling kaiming_call(lua_State* L, std::string_view function) {
  return {
      L,
      function,
      {{"a", 0.0}, {"mode", std::string("fan_in")}, {"nonlinearity", std::string("leaky_relu")}},
      {ParamKind::number, ParamKind::string, ParamKind::string}};
}

double kaiming_deviation(const Filling& call) {
  const std::string& mode = call.text(1);
  if (mode != "fan_in" && mode != "fan_out") {
    throw std::invalid_argument(
        fmt::format("[{}] mode must be fan_in or fan_out, not {}", call.function(), mode));
  }
  const nn::init::Fans fans = nn::init::fans_of(call.tensor(), call.function());
  return nn::init::gain_of(call.text(2), call.number(0), call.function()) /
         std::sqrt(mode == "fan_in" ? fans.in : fans.out);
}

int kaiming_uniform(lua_State* L) {
  const Filling call = kaiming_call(L, "kaiming_uniform_");
  fill_symmetric(call.tensor(), kaiming_deviation(call));
  return call.done();
}

int kaiming_normal(lua_State* L) {
  const Filling call = kaiming_call(L, "kaiming_normal_");
  fill_normal(call.tensor(), 0.0, kaiming_deviation(call));
  return call.done();
}

constexpr luaL_Reg kInitFunctions[] = {
    {"constant_", native<constant>},
    {"kaiming_normal_", native<kaiming_normal>},
    {"kaiming_uniform_", native<kaiming_uniform>},
    {"normal_", native<normal>},
    {"ones_", native<fill_ones>},
    {"orthogonal_", native<orthogonal>},
    {"trunc_normal_", native<trunc_normal>},
    {"uniform_", native<uniform>},
    {"xavier_normal_", native<xavier_normal>},
    {"xavier_uniform_", native<xavier_uniform>},
    {"zeros_", native<fill_zeros>},
};

}  // namespace

std::span<const luaL_Reg> init_functions() { return kInitFunctions; }

}  // namespace ohm::lua
