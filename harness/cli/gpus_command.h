// ohm gpus: the virtual GPUs.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_gpus(const OptionParser& parser, const Environment& environment);

inline constexpr Command kGpusCommand = {"gpus", "List the virtual GPUs that --gpu knows",
                                         "ohm gpus\n"
                                         "ohm gpus h100\n"
                                         "ohm run scenarios/batch_size.lua --gpu t4-16g",
                                         setup_gpus};

}  // namespace ohm::cli
