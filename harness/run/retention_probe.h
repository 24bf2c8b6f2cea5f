// The reasons why memory is retained: the variant is run once more, up to the moment that matters,
// and the script's variables are read there.
#pragma once

#include <optional>
#include <string>

#include "harness/judge/measured_variant.h"
#include "harness/machine/machine.h"
#include "harness/scenario/scenario_program.h"

namespace ohm::engine {

/// Equal runs are equal to the event: what `measured` says about the first one tells where to look.
/// That is the out-of-memory error that ended it, or else the peak of the fullest GPU. nullopt for
/// a run that used no GPU or ended in an error of its own, and where the second run took another
/// course. What it prints is dropped, and it writes no files.
std::optional<RetentionResult> probe_retention(const ScenarioLoader& loader,
                                               const LoadRequest& request,
                                               const std::string& variant,
                                               const MachineOptions& options,
                                               const MeasuredVariant& measured);

}  // namespace ohm::engine
