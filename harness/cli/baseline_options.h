// The options of commands that compare a recorded program with earlier recordings of it.
#pragma once

#include "harness/cli/option_parser.h"
#include "harness/gate/recorded_baseline.h"

namespace ohm::cli {

/// --baseline, --measure and --tolerance.
void add_baseline_options(const OptionParser& parser, engine::RecordedBaselineOptions& baseline);

/// Throws UsageError for what has no meaning, or needs --baseline.
void check_baseline_options(const engine::RecordedBaselineOptions& baseline);

}  // namespace ohm::cli
