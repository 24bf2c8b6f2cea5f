// ohm sweep: fails the allocations of scenarios, or of a command, one after the other.
#pragma once

#include <functional>

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_sweep(const OptionParser& parser, const Environment& environment);

inline constexpr Command kSweepCommand = {
    "sweep", "Fail every allocation, one at a time, and judge the outcome",
    "ohm sweep scenarios/*.lua\n"
    "ohm sweep scenarios/oom_recovery.lua --points all --form both\n"
    "ohm sweep scenarios/*.lua --level segment --engine exec\n"
    "ohm sweep -- python train.py",
    setup_sweep, StartsProgram::maybe};

}  // namespace ohm::cli
