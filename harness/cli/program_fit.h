// ohm fit of a command that comes after `--`.
#pragma once

#include "harness/cli/command.h"
#include "harness/cli/fit_arguments.h"
#include "harness/cli/option_parser.h"

namespace ohm::cli {

/// The exit code. Throws UsageError, GpuUnavailable.
int fit_program(FitArguments arguments, const OptionParser& parser, const Environment& environment);

}  // namespace ohm::cli
