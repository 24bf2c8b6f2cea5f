// `--values`, `--assume-selected` and `--allow-unknown-values`, of commands on virtual GPUs.
#pragma once

#include <string>

#include "harness/cli/option_parser.h"
#include "harness/exec/value_options.h"

namespace ohm::cli {

/// `before` begins the help of each: "For a command after --: ".
void add_value_options(const OptionParser& parser, engine::ValueOptions& options,
                       const std::string& before = "");

/// For commands that judge figures.
void add_allow_unknown_values_option(const OptionParser& parser, bool& allows);

/// Where no command is run: throws UsageError if one of the first two was given.
void refuse_value_options(const engine::ValueOptions& options);

}  // namespace ohm::cli
