// ohm merge: the reports of shards as one, and those of several cards.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/cli/command.h"
#include "reports/json/merge.h"

namespace ohm::cli {

/// What the reports in these files are together; of a folder all that are in it, or, where it is
/// one of a job array, in its reports. Throws UsageError, also where that folder has runs or
/// sweeps of several types of cards.
reports::MergedReport merged_files(const std::vector<std::string>& paths);

std::function<int()> setup_merge(const OptionParser& parser, const Environment& environment);

inline constexpr Command kMergeCommand = {
    "merge", "Merge the reports of the shards of a run, a sweep, a fit or a verification",
    "ohm sweep scenarios/*.lua --shard 1/2 --report json=1.json\n"
    "ohm merge 1.json 2.json > sweep.json\n"
    "ohm merge a100.json h100.json -o cards.json",
    setup_merge};

}  // namespace ohm::cli
