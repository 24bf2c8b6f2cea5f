// The command that runs a variant once more, as it was run.
#pragma once

#include <string>

#include "harness/run/run_options.h"
#include "harness/scenario/scenario.h"

namespace ohm::engine {

/// `fault` is left out when it is empty.
std::string rerun_command(const RunOptions& options, const std::string& path,
                          const ScenarioDescription& scenario, const std::string& variant,
                          const std::string& fault);

}  // namespace ohm::engine
