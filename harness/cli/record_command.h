// ohm record: a job on a real GPU, or a virtual one, with its memory recorded.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_record(const OptionParser& parser, const Environment& environment);

inline constexpr Command kRecordCommand = {
    "record", "Run a PyTorch job and record its GPU memory, with its steps marked",
    "ohm record -- python train.py\n"
    "ohm record -o run.pickle -- torchrun --nproc-per-node 2 train.py\n"
    "ohm exec --gpu l4-24g -- ohm record -- python train.py",
    setup_record, StartsProgram::always};

}  // namespace ohm::cli
