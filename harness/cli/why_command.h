// ohm why: one paragraph on whatever is left of a job that ran out of memory.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_why(const OptionParser& parser, const Environment& environment);

/// "; ohm why crash.log explains it", where a file is given to a command of scenarios that is a
/// log, a program or a snapshot; empty for others.
std::string why_hint(const std::string& file);

inline constexpr Command kWhyCommand = {
    "why", "Explain why a job ran out of memory, from a log, a snapshot or a result",
    "ohm why crash.log\n"
    "ohm why oom.pickle\n"
    "python train.py 2>&1 | ohm why -",
    setup_why};

}  // namespace ohm::cli
