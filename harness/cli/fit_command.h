// ohm fit: the largest batch, the smallest card.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_fit(const OptionParser& parser, const Environment& environment);

inline constexpr Command kFitCommand = {
    "fit", "Find the largest batch (or other parameter) that fits, or the smallest GPU",
    "ohm fit scenarios/batch_size.lua --vary batch=1..65536 --gpu a100-40g\n"
    "ohm fit scenarios/batch_size.lua --vary batch --gpus all\n"
    "ohm fit scenarios/batch_size.lua --vary capacity --set batch=512\n"
    "ohm fit --vary batch=1..512 --gpu l4-24g -- python train.py --batch 64",
    setup_fit, StartsProgram::maybe};

}  // namespace ohm::cli
