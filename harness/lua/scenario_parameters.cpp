#include "harness/lua/scenario_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "allocator_shim/observe/nearest_name.h"

namespace ohm::lua {

double ScenarioParameters::declare(const std::string& name, double value, bool is_integer) {
  const auto is_same = [&](const engine::ScenarioParameter& known) { return known.name == name; };
  if (std::any_of(declared_.begin(), declared_.end(), is_same)) {
    throw std::invalid_argument(fmt::format("[params] '{}' is declared twice", name));
  }
  engine::ScenarioParameter parameter{name, value, value, is_integer};
  if (const auto set = set_.find(name); set != set_.end()) parameter.value = set->second;
  if (is_integer && parameter.value != std::floor(parameter.value)) {
    throw std::invalid_argument(fmt::format("[params] '{}' is an integer ({}), it cannot be {:g}",
                                            name, value, parameter.value));
  }
  declared_.push_back(parameter);
  return parameter.value;
}

std::vector<engine::ScenarioParameter> ScenarioParameters::declared() const {
  std::vector<engine::ScenarioParameter> sorted = declared_;
  std::sort(sorted.begin(), sorted.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return sorted;
}

void ScenarioParameters::check_all_declared() const {
  std::vector<std::string> names;
  for (const engine::ScenarioParameter& parameter : declared()) names.push_back(parameter.name);
  for (const auto& [name, value] : set_) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    throw std::invalid_argument(
        names.empty() ? fmt::format("the scenario declares no parameters, '{}' cannot be set", name)
                      : fmt::format("the scenario declares no parameter '{}'{}", name,
                                    did_you_mean(name, names)));
  }
}

}  // namespace ohm::lua
