// Parameters of a scenario: the numbers that it declares and that can be set from outside.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/scenario/scenario.h"

namespace ohm::lua {

class ScenarioParameters {
 public:
  ScenarioParameters() = default;
  explicit ScenarioParameters(engine::ParameterValues set) : set_(std::move(set)) {}

  /// The value in force: what was set, else the default. Throws std::invalid_argument for a name
  /// that was declared before, a fraction set for an integer, and a value out of bounds.
  double declare(engine::ScenarioParameter parameter);

  /// In byte order of their names.
  std::vector<engine::ScenarioParameter> declared() const;

 private:
  engine::ParameterValues set_;
  std::vector<engine::ScenarioParameter> declared_;
};

}  // namespace ohm::lua
