// ohm sweep of a command that comes after `--`.
#pragma once

#include "harness/cli/command.h"
#include "harness/cli/option_parser.h"
#include "harness/cli/sweep_arguments.h"

namespace ohm::cli {

/// What applies to commands alone.
void add_program_options(const OptionParser& parser, SweepArguments& arguments);

/// The exit code. Throws UsageError, GpuUnavailable.
int sweep_program(SweepArguments arguments, const OptionParser& parser,
                  const Environment& environment);

/// Options of commands are not passed over in silence where scenarios are swept.
void refuse_program_options(const SweepArguments& arguments);

}  // namespace ohm::cli
