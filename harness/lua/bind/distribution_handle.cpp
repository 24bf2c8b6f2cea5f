#include "harness/lua/bind/distribution_handle.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "harness/lua/bind/methods.h"
#include "harness/lua/bind/native.h"
#include "harness/lua/bind/object_handle.h"
#include "harness/lua/bind/op_arguments.h"
#include "harness/lua/bind/tensor_handle.h"
#include "harness/lua/vm/push_text.h"
#include "runtime/distributions/independent.h"

namespace ohm::lua {
namespace {

using distributions::Distribution;
using distributions::DistributionPtr;
using ops::ParamKind;
using ops::Value;

constexpr std::string_view kClassName = "Distribution";

// `self` of a method, without which the arguments are those of PyTorch's signature.
DistributionPtr take_self(lua_State* L, std::string_view function) {
  object_argument<Distribution>(L, 1, {function, "self"});
  DistributionPtr self = *test_object<Distribution>(L, 1);
  lua_remove(L, 1);
  return self;
}

Value only_argument(lua_State* L, std::string_view function, const ops::Param& param) {
  return read_parameters(L, function, {&param, 1}).front();
}

// ---- methods ------------------------------------------------------------------------------------

using OfShape = Tensor (Distribution::*)(const Shape& sample_shape);

template <OfShape F>
int draw(lua_State* L, std::string_view function) {
  const DistributionPtr self = take_self(L, function);
  const Value shape =
      only_argument(L, function, {"sample_shape", ParamKind::size_list, true, Shape(), false});
  push_tensor(L, ((*self).*F)(std::get<Shape>(shape)));
  return 1;
}
int sample(lua_State* L) { return draw<&Distribution::sample>(L, "sample"); }
int rsample(lua_State* L) { return draw<&Distribution::rsample>(L, "rsample"); }

using OfValue = Tensor (Distribution::*)(const Tensor& value);

template <OfValue F>
int evaluate(lua_State* L, std::string_view function) {
  const DistributionPtr self = take_self(L, function);
  const Value value = only_argument(L, function, {"value", ParamKind::tensor, false, {}, false});
  push_tensor(L, ((*self).*F)(std::get<Tensor>(value)));
  return 1;
}
int log_prob(lua_State* L) { return evaluate<&Distribution::log_prob>(L, "log_prob"); }
int cdf(lua_State* L) { return evaluate<&Distribution::cdf>(L, "cdf"); }
int icdf(lua_State* L) { return evaluate<&Distribution::icdf>(L, "icdf"); }

int entropy(lua_State* L) {
  push_tensor(L, take_self(L, "entropy")->entropy());
  return 1;
}

int perplexity(lua_State* L) {
  push_tensor(L, take_self(L, "perplexity")->perplexity());
  return 1;
}

int enumerate_support(lua_State* L) {
  constexpr std::string_view kName = "enumerate_support";
  const DistributionPtr self = take_self(L, kName);
  const Value expands = only_argument(L, kName, {"expand", ParamKind::boolean, true, true, false});
  push_tensor(L, self->enumerate_support(std::get<bool>(expands)));
  return 1;
}

int expand(lua_State* L) {
  const DistributionPtr self = take_self(L, "expand");
  const Value shape =
      only_argument(L, "expand", {"batch_shape", ParamKind::size_list, false, {}, false});
  push_handle<DistributionPtr>(L, self->expand(std::get<Shape>(shape)));
  return 1;
}

constexpr luaL_Reg kDistributionMethods[] = {
    {"cdf", native<cdf>},
    {"entropy", native<entropy>},
    {"enumerate_support", native<enumerate_support>},
    {"expand", native<expand>},
    {"icdf", native<icdf>},
    {"log_prob", native<log_prob>},
    {"perplexity", native<perplexity>},
    {"rsample", native<rsample>},
    {"sample", native<sample>},
};

// ---- fields -------------------------------------------------------------------------------------

struct Figure {
  std::string_view name;
  Tensor (Distribution::*compute)();
};

constexpr Figure kFigures[] = {
    {"mean", &Distribution::mean},
    {"mode", &Distribution::mode},
    {"stddev", &Distribution::stddev},
    {"variance", &Distribution::variance},
};

bool push_parameter(lua_State* L, Distribution& self, std::string_view name) {
  const std::vector<std::string_view> names = self.parameter_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) return false;
  push_tensor(L, self.parameter(name));
  return true;
}

const Figure* find_figure(std::string_view name) {
  const auto* const figure = std::find_if(std::begin(kFigures), std::end(kFigures),
                                          [&](const Figure& known) { return known.name == name; });
  return figure == std::end(kFigures) ? nullptr : figure;
}

// A parameter or a figure: it may have to be computed.
int push_computed(lua_State* L) {
  auto& self = object_argument<Distribution>(L, 1, {kClassName, "self"});
  const std::string_view name = string_argument(L, 2, {kClassName, "name"});
  if (push_parameter(L, self, name)) return 1;
  push_tensor(L, (self.*(find_figure(name)->compute))());
  return 1;
}

bool push_fact(lua_State* L, const Distribution& self, std::string_view name) {
  if (name == "batch_shape") {
    push_sizes(L, self.batch_shape());
  } else if (name == "event_shape") {
    push_sizes(L, self.event_shape());
  } else if (name == "has_rsample") {
    lua_pushboolean(L, self.has_rsample());
  } else if (const auto* many = dynamic_cast<const distributions::Independent*>(&self);
             many != nullptr && name == "base_dist") {
    push_handle<DistributionPtr>(L, many->base());
  } else {
    return false;
  }
  return true;
}

int push_fact_or_method(lua_State* L) {
  const auto& self = object_argument<Distribution>(L, 1, {kClassName, "self"});
  if (push_fact(L, self, string_argument(L, 2, {kClassName, "name"}))) return 1;
  std::vector<std::string> others = {"batch_shape", "event_shape", "has_rsample"};
  for (const Figure& figure : kFigures) others.emplace_back(figure.name);
  for (const std::string_view parameter : self.parameter_names()) others.emplace_back(parameter);
  return push_method(L, kDistributionMethods, self.type_name(), std::move(others));
}

bool is_computed(lua_State* L) {
  const DistributionPtr* const self = test_object<Distribution>(L, 1);
  if (self == nullptr || lua_type(L, 2) != LUA_TSTRING) return false;
  const std::string_view name = lua_tostring(L, 2);
  const std::vector<std::string_view> names = (*self)->parameter_names();
  return find_figure(name) != nullptr || std::find(names.begin(), names.end(), name) != names.end();
}

int index_distribution(lua_State* L) {
  return is_computed(L) ? run_native(L, push_computed, Entry::operator_call)
                        : run_native(L, push_fact_or_method, Entry::access);
}

int distribution_text(lua_State* L) {
  push_text(L, object_argument<Distribution>(L, 1, {kClassName, "self"}).str());
  return 1;
}

constexpr luaL_Reg kDistributionMetamethods[] = {
    {"__index", index_distribution},
    {"__tostring", native<distribution_text, Entry::access>},
};

}  // namespace

const HandleClass HandleOf<DistributionPtr>::kClass = {"Distribution", kDistributionMetamethods};

}  // namespace ohm::lua
