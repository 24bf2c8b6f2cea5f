// ohm baseline: the allocations of scenarios, compared with those that were recorded before.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_baseline(const OptionParser& parser, const Environment& environment);

inline constexpr Command kBaselineCommand = {
    "baseline", "Compare what scenarios allocate with their baselines, to the byte",
    "ohm baseline update scenarios/*.lua            # writes scenarios/NAME.baseline\n"
    "ohm baseline check scenarios/*.lua             # fails (1) where anything grew\n"
    "ohm baseline check scenarios/*.lua --ratchet   # and where anything shrank: keep the gain\n"
    "ohm baseline check scenarios/*.lua --against origin/main\n"
    "ohm baseline show scenarios/leaked_loss_graph.lua",
    setup_baseline};

}  // namespace ohm::cli
