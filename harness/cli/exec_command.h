// ohm exec: another program, PyTorch for one, on virtual GPUs.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_exec(const OptionParser& parser, const Environment& environment);

inline constexpr Command kExecCommand = {
    "exec", "Run a program that uses CUDA on virtual GPUs",
    "ohm exec --gpu h100-80g -- python train.py\n"
    "ohm exec --gate 'peak_allocated_bytes < 20 GiB' -- python -m pytest\n"
    "ohm exec --gpu l4-24g --gpus 2 --limit 12GiB -- torchrun --nproc-per-node 2 train.py",
    setup_exec, StartsProgram::always};

}  // namespace ohm::cli
