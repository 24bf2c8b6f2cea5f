// Man pages in the language of man(7).
#pragma once

#include <span>
#include <string>

#include "harness/cli/described_command.h"

namespace ohm::cli {

/// ohm(1): what the program does, and its commands.
std::string man_page(std::span<const DescribedCommand> commands);

/// ohm-NAME(1) of one command.
std::string man_page(const DescribedCommand& command);

}  // namespace ohm::cli
