// Messages of workers: descriptions and measured variants.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/judge/measured_variant.h"
#include "harness/scenario/scenario.h"
#include "harness/scenario/script_sources.h"

namespace ohm::engine {

/// A scenario's description, or why there is none.
struct LoadedScenario {
  std::optional<ErrorResult> error;
  ScenarioDescription description;
  std::vector<std::pair<std::string, std::string>> modules;  ///< paths and texts of those required
};

/// Takes over the texts of modules that only the script itself could name.
void add_modules(const LoadedScenario& loaded, ScriptSources& sources);

std::string encoded(const LoadedScenario& scenario);
std::string encoded(const MeasuredVariant& variant);

/// Throw std::runtime_error for bytes that are not a whole message.
LoadedScenario decoded_scenario(std::string_view bytes);
MeasuredVariant decoded_variant(std::string_view bytes);

}  // namespace ohm::engine
