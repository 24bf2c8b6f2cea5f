// Options that every command has which runs scenarios.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "harness/cli/command.h"
#include "harness/run/runner.h"

namespace ohm::cli {

/// Files, --case, --filter.
void add_selection_options(CLI::App& app, engine::RunOptions& run);

/// Options that are text until they are checked.
struct RunTexts {
  std::string script_memory = "1GiB";
  std::vector<std::string> settings;  ///< NAME=VALUE
};

/// GPUs, allocator, parameters, seed, jobs and caps.
void add_machine_options(CLI::App& app, engine::RunOptions& run, RunTexts& texts);

/// Reads what was given as text, and PyTorch's environment variables. Throws UsageError.
void check_run_options(engine::RunOptions& run, const RunTexts& texts);

}  // namespace ohm::cli
