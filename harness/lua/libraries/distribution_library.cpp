#include "harness/lua/libraries/distribution_library.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/lua/bind/distribution_handle.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/push_text.h"
#include "runtime/distributions/bernoulli.h"
#include "runtime/distributions/categorical.h"
#include "runtime/distributions/dirichlet.h"
#include "runtime/distributions/divergence.h"
#include "runtime/distributions/exponential.h"
#include "runtime/distributions/gamma.h"
#include "runtime/distributions/independent.h"
#include "runtime/distributions/laplace.h"
#include "runtime/distributions/normal.h"
#include "runtime/distributions/one_hot_categorical.h"
#include "runtime/distributions/uniform.h"

namespace ohm::lua {
namespace {

using distributions::Distribution;
using distributions::DistributionPtr;
using ops::Param;
using ops::ParamKind;
using ops::TensorOrNumber;
using ops::Value;

// Distribution.set_default_validate_args(value)
int set_default_validate_args(lua_State* L) {
  Interpreter::of(L).settings.are_distributions_checked =
      boolean_argument(L, 1, {"set_default_validate_args", "value"});
  return 0;
}

Param given(std::string_view name, ParamKind kind) { return {name, kind, false, {}, false}; }
Param optional(std::string_view name, ParamKind kind) {
  return {name, kind, true, std::monostate{}, false};
}

bool validates(lua_State* L, const Value& value) {
  const bool* const asked = std::get_if<bool>(&value);
  return asked != nullptr ? *asked : Interpreter::of(L).settings.are_distributions_checked;
}

std::optional<TensorOrNumber> tensor_or_number(const Value& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
  if (const auto* number = std::get_if<double>(&value)) return ops::Number(*number);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return ops::Number(*number);
  return std::nullopt;
}

std::optional<Tensor> tensor_of(const Value& value) {
  const auto* const tensor = std::get_if<Tensor>(&value);
  return tensor == nullptr ? std::nullopt : std::optional<Tensor>(*tensor);
}

// T(first, second [, validate_args]) of two numbers or tensors.
template <class T>
int make_of_two(lua_State* L, std::string_view name, std::string_view first,
                std::string_view second) {
  const std::vector<Param> params = {given(first, ParamKind::tensor_or_number),
                                     given(second, ParamKind::tensor_or_number),
                                     optional("validate_args", ParamKind::boolean)};
  const std::vector<Value> values = read_parameters(L, name, params);
  push_handle<DistributionPtr>(
      L, std::make_shared<T>(*tensor_or_number(values[0]), *tensor_or_number(values[1]),
                             validates(L, values[2])));
  return 1;
}

int normal(lua_State* L) { return make_of_two<distributions::Normal>(L, "Normal", "loc", "scale"); }
int uniform(lua_State* L) {
  return make_of_two<distributions::Uniform>(L, "Uniform", "low", "high");
}

int laplace(lua_State* L) {
  return make_of_two<distributions::Laplace>(L, "Laplace", "loc", "scale");
}

int gamma(lua_State* L) {
  return make_of_two<distributions::Gamma>(L, "Gamma", "concentration", "rate");
}
int beta(lua_State* L) {
  return make_of_two<distributions::Beta>(L, "Beta", "concentration1", "concentration0");
}

// Dirichlet(concentration [, validate_args])
int dirichlet(lua_State* L) {
  const std::vector<Param> params = {given("concentration", ParamKind::tensor),
                                     optional("validate_args", ParamKind::boolean)};
  const std::vector<Value> values = read_parameters(L, "Dirichlet", params);
  push_handle<DistributionPtr>(L, std::make_shared<distributions::Dirichlet>(
                                      std::get<Tensor>(values[0]), validates(L, values[1])));
  return 1;
}

// Exponential(rate [, validate_args])
int exponential(lua_State* L) {
  const std::vector<Param> params = {given("rate", ParamKind::tensor_or_number),
                                     optional("validate_args", ParamKind::boolean)};
  const std::vector<Value> values = read_parameters(L, "Exponential", params);
  push_handle<DistributionPtr>(L, std::make_shared<distributions::Exponential>(
                                      *tensor_or_number(values[0]), validates(L, values[1])));
  return 1;
}

// T([probs, logits, validate_args]), of which exactly one of the first two is there.
std::vector<Value> probabilities(lua_State* L, std::string_view name, ParamKind kind) {
  const std::vector<Param> params = {optional("probs", kind), optional("logits", kind),
                                     optional("validate_args", ParamKind::boolean)};
  return read_parameters(L, name, params);
}

// The name of the parameter that the first distribution of this class was made with, a field of the
// registry: it is `given` where this is the first.
std::string_view first_parameter(lua_State* L, std::string_view name, std::string_view given) {
  constexpr std::string_view kNames[] = {"probs", "logits"};
  const std::string field = "ohm.distributions." + std::string(name);
  std::string_view first = given;
  if (lua_getfield(L, LUA_REGISTRYINDEX, field.c_str()) == LUA_TNIL) {
    Interpreter::of(L).lifetimes().note_unknown_write();
    push_text(L, given);
    lua_setfield(L, LUA_REGISTRYINDEX, field.c_str());
  } else {
    first = kNames[lua_tostring(L, -1) == kNames[0] ? 0 : 1];
  }
  lua_pop(L, 1);
  return first;
}

template <class T, class Parameter>
std::shared_ptr<T> made_of_probabilities(lua_State* L, std::string_view name,
                                         const std::vector<Value>& values, Parameter parameter,
                                         bool validates) {
  auto made = std::make_shared<T>(parameter(values[0]), parameter(values[1]), validates);
  const bool has_probs = !std::holds_alternative<std::monostate>(values[0]);
  made->release_first(first_parameter(L, name, has_probs ? "probs" : "logits"));
  return made;
}

int bernoulli(lua_State* L) {
  constexpr std::string_view kName = "Bernoulli";
  const std::vector<Value> values = probabilities(L, kName, ParamKind::tensor_or_number);
  push_handle<DistributionPtr>(
      L, made_of_probabilities<distributions::Bernoulli>(L, kName, values, &tensor_or_number,
                                                         validates(L, values[2])));
  return 1;
}

constexpr std::string_view kCategorical = "Categorical";

int categorical(lua_State* L) {
  const std::vector<Value> values = probabilities(L, kCategorical, ParamKind::tensor);
  push_handle<DistributionPtr>(
      L, made_of_probabilities<distributions::Categorical>(L, kCategorical, values, &tensor_of,
                                                           validates(L, values[2])));
  return 1;
}

// The distribution of the numbers is checked as all are by default.
template <distributions::Straight S>
int one_hot_categorical(lua_State* L) {
  constexpr std::string_view kName = S == distributions::Straight::through
                                         ? "OneHotCategoricalStraightThrough"
                                         : "OneHotCategorical";
  const std::vector<Value> values = probabilities(L, kName, ParamKind::tensor);
  auto numbers = made_of_probabilities<distributions::Categorical>(
      L, kCategorical, values, &tensor_of, Interpreter::of(L).settings.are_distributions_checked);
  auto made = std::make_shared<distributions::OneHotCategorical>(std::move(numbers), S,
                                                                 validates(L, values[2]));
  made->validate_probabilities();
  push_handle<DistributionPtr>(L, std::move(made));
  return 1;
}

// Independent(base_distribution, reinterpreted_batch_ndims [, validate_args])
int independent(lua_State* L) {
  constexpr std::string_view kName = "Independent";
  object_argument<Distribution>(L, 1, {kName, "base_distribution"});
  DistributionPtr base = *test_object<Distribution>(L, 1);
  lua_remove(L, 1);
  const std::vector<Param> params = {given("reinterpreted_batch_ndims", ParamKind::integer),
                                     optional("validate_args", ParamKind::boolean)};
  const std::vector<Value> values = read_parameters(L, kName, params);
  push_handle<DistributionPtr>(
      L, std::make_shared<distributions::Independent>(
             std::move(base), std::get<std::int64_t>(values[0]), validates(L, values[1])));
  return 1;
}

int kl_divergence(lua_State* L) {
  constexpr std::string_view kName = "kl_divergence";
  auto& p = object_argument<Distribution>(L, 1, {kName, "p"});
  auto& q = object_argument<Distribution>(L, 2, {kName, "q"});
  push_tensor(L, distributions::kl_divergence(p, q));
  return 1;
}

constexpr luaL_Reg kDistributionFunctions[] = {
    {"Bernoulli", native<bernoulli>},
    {"Beta", native<beta>},
    {"Categorical", native<categorical>},
    {"Dirichlet", native<dirichlet>},
    {"Exponential", native<exponential>},
    {"Gamma", native<gamma>},
    {"Independent", native<independent>},
    {"Laplace", native<laplace>},
    {"Normal", native<normal>},
    {"OneHotCategorical", native<one_hot_categorical<distributions::Straight::none>>},
    {"OneHotCategoricalStraightThrough",
     native<one_hot_categorical<distributions::Straight::through>>},
    {"Uniform", native<uniform>},
    {"kl_divergence", native<kl_divergence>},
};

constexpr luaL_Reg kDistributionClassFunctions[] = {
    {"set_default_validate_args", native<set_default_validate_args>},
};

}  // namespace

std::span<const luaL_Reg> distribution_functions() { return kDistributionFunctions; }
std::span<const luaL_Reg> distribution_class_functions() { return kDistributionClassFunctions; }

}  // namespace ohm::lua
