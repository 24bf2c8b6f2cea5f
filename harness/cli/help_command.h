// ohm help: the help of a command, on the terminal or as a man page.
#pragma once

#include <string>
#include <vector>

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_help(const OptionParser& parser, const Environment& environment);

/// `unknown command "rnu" (did you mean "run"?)`
std::string unknown_command(const std::string& name, const std::vector<std::string>& known);

/// `ohm help` and `ohm help NAME` as --help spells them; other command lines as they are.
std::vector<const char*> spelled_with_help(int argc, const char* const* argv);

inline constexpr Command kHelpCommand = {"help", "Print the help of a command, or its man page",
                                         "ohm help run\n"
                                         "ohm help --man exec | man -l -",
                                         setup_help};

}  // namespace ohm::cli
