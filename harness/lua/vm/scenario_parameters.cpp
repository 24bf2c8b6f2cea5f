#include "harness/lua/vm/scenario_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace ohm::lua {

double ScenarioParameters::declare(engine::ScenarioParameter parameter) {
  const auto is_same = [&](const auto& known) { return known.name == parameter.name; };
  if (std::any_of(declared_.begin(), declared_.end(), is_same)) {
    throw std::invalid_argument(fmt::format("[params] '{}' is declared twice", parameter.name));
  }
  parameter.value = parameter.default_value;
  if (const auto set = set_.find(parameter.name); set != set_.end()) parameter.value = set->second;
  if (parameter.is_integer && parameter.value != std::floor(parameter.value)) {
    throw std::invalid_argument(
        fmt::format("[params] '{}' must be an integer (default: {}), got {:g}", parameter.name,
                    parameter.default_value, parameter.value));
  }
  constexpr double kMostExact = 9007199254740992.0;  // 2^53: every integer up to it is a double
  if (parameter.is_integer && std::abs(parameter.value) > kMostExact) {
    throw std::invalid_argument(
        fmt::format("[params] '{}' must be an integer, {:g} is too large for one", parameter.name,
                    parameter.value));
  }
  if (parameter.least && parameter.value < *parameter.least) {
    throw std::invalid_argument(fmt::format("[params] '{}' must be at least {:g}, got {:g}",
                                            parameter.name, *parameter.least, parameter.value));
  }
  if (parameter.most && parameter.value > *parameter.most) {
    throw std::invalid_argument(fmt::format("[params] '{}' must be at most {:g}, got {:g}",
                                            parameter.name, *parameter.most, parameter.value));
  }
  declared_.push_back(std::move(parameter));
  return declared_.back().value;
}

std::vector<engine::ScenarioParameter> ScenarioParameters::declared() const {
  std::vector<engine::ScenarioParameter> sorted = declared_;
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return sorted;
}

}  // namespace ohm::lua
