// The program: parses the command line, runs one command, returns the exit code.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

/// Never throws: usage errors are printed and give 2, errors of ours 4.
int run_application(int argc, const char* const* argv, const Environment& environment);

}  // namespace ohm::cli
