// Messages of workers: descriptions and measured variants.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/judge/measured_variant.h"
#include "harness/scenario/scenario.h"

namespace ohm::engine {

/// A scenario's description, or why there is none.
struct LoadedScenario {
  std::optional<ErrorResult> error;
  ScenarioDescription description;
};

std::string encoded(const LoadedScenario& scenario);
std::string encoded(const MeasuredVariant& variant);

/// Throw std::runtime_error for bytes that are not a whole message.
LoadedScenario decoded_scenario(std::string_view bytes);
MeasuredVariant decoded_variant(std::string_view bytes);

}  // namespace ohm::engine
