// The argument of commands that take scenarios.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/option_parser.h"

namespace ohm::cli {

/// `files` gets the file of each scenario that is named, and any other word as it is.
void add_scenario_files(const OptionParser& parser, std::vector<std::string>& files,
                        const std::string& help, const std::string& argument = "FILES");

}  // namespace ohm::cli
