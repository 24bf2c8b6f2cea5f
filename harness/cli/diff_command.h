// ohm diff: what is different between two results.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_diff(const OptionParser& parser, const Environment& environment);

inline constexpr Command kDiffCommand = {
    "diff",
    "Compare two results or snapshots: every figure, and what makes up the change of a peak",
    "ohm diff before.json after.json\n"
    "ohm diff main.pickle branch.pickle\n"
    "ohm run scenarios/*.lua --report json=after.json   # what to compare",
    setup_diff};

}  // namespace ohm::cli
