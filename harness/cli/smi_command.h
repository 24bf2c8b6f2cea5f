// ohm smi: virtual GPUs, and real ones, as nvidia-smi and GPUtil show them.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_smi(const OptionParser& parser, const Environment& environment);

inline constexpr Command kSmiCommand = {
    "smi", "Show virtual GPUs as nvidia-smi does: idle, or at a variant's peak",
    "ohm smi --gpu a100-40g,count=2\n"
    "ohm smi scenarios/unbalanced_data_parallel.lua --case problem\n"
    "ohm smi --gpu cuda\n"
    "ohm smi --query-gpu=index,memory.used,memory.total --format=csv,noheader,nounits",
    setup_smi};

}  // namespace ohm::cli
