// ohm merge: the reports of shards as one.
#pragma once

#include <functional>

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_merge(CLI::App& app, const Environment& environment);

inline constexpr Command kMergeCommand = {
    "merge", "Merge the reports of the shards of a run or a sweep",
    "ohm sweep scenarios/*.lua --shard 1/2 --report json=1.json\n"
    "ohm merge 1.json 2.json > sweep.json",
    setup_merge};

}  // namespace ohm::cli
