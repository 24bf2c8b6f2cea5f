// The numbers that a scenario declares and that can be set from outside.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "harness/engine/scenario.h"

namespace ohm::lua {

class ScenarioParameters {
 public:
  ScenarioParameters() = default;
  explicit ScenarioParameters(engine::ParameterValues set) : set_(std::move(set)) {}

  /// The value in force: what was set, else `value`. Throws std::invalid_argument for a name that
  /// was declared before, and where a fraction was set for an integer.
  double declare(const std::string& name, double value, bool is_integer);

  /// In byte order of their names.
  std::vector<engine::ScenarioParameter> declared() const;

  /// Throws std::invalid_argument for a value that was set and that nobody declared.
  void check_all_declared() const;

 private:
  engine::ParameterValues set_;
  std::vector<engine::ScenarioParameter> declared_;
};

}  // namespace ohm::lua
