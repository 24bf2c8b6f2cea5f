// Options of the commands that run scenarios: what is selected, and the rows of kRunOptionRows.
#pragma once

#include "harness/cli/command.h"
#include "harness/cli/option_parser.h"
#include "harness/run/run_options.h"

namespace ohm::cli {

/// Files, --case, --filter.
void add_selection_options(const OptionParser& parser, engine::RunOptions& run);
/// --case alone.
void add_case_option(const OptionParser& parser, engine::RunOptions& run);

/// The rows of the table that this command has. Throws UsageError while they are parsed.
void add_run_options(const OptionParser& parser, engine::RunOptions& run,
                     engine::RunCommand command);

/// -j, with as many jobs as there are cores unless given.
void add_jobs_option(const OptionParser& parser, int& jobs);

/// Throws UsageError where no scenario is named.
void require_files(const engine::RunOptions& run);

/// Checks the values that say for themselves whether they are right. Throws UsageError.
void check_run_values(const engine::RunOptions& run);
/// Checks all values, and reads PyTorch's environment variables. Throws UsageError.
void check_run_options(engine::RunOptions& run);

}  // namespace ohm::cli
