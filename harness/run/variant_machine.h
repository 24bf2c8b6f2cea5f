// The machine that a variant runs on: what its scenario says, and what the run brings instead.
#pragma once

#include "harness/machine/machine_options.h"
#include "harness/run/run_options.h"
#include "harness/scenario/scenario.h"

namespace ohm::engine {

MachineOptions machine_for(const ScenarioDescription& scenario, const VariantDescription& variant,
                           const RunOptions& run);

/// For a variant that runs for its values: without faults, and large enough for what the scenario's
/// own GPUs cannot hold: a larger share of the card, if the run is on one that holds more.
MachineOptions large_machine_for(const ScenarioDescription& scenario,
                                 const VariantDescription& variant, const RunOptions& run);

}  // namespace ohm::engine
