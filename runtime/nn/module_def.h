// ModuleDef: a module as a row of a list, with its name, its options and how it is made.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/nn/module.h"
#include "runtime/ops/signature.h"

namespace ohm::nn {

struct ModuleDef {
  std::string_view name;  ///< PyTorch's class name
  std::vector<ops::Param> params;
  std::function<ModulePtr(std::span<const Value>)> make;
};

template <class... Args>
ModuleDef define(std::string_view name, ModulePtr (*make)(Args...),
                 std::vector<ops::ParamName> names) {
  const auto call = [make](std::span<const Value> values) { return ops::invoke(make, values); };
  return {name, ops::params_of<Args...>(std::move(names)), call};
}

}  // namespace ohm::nn
