// ohm list: the scenarios, their variants and limits.
#pragma once

#include "harness/cli/command.h"

namespace ohm::cli {

std::function<int()> setup_list(const OptionParser& parser, const Environment& environment);

inline constexpr Command kListCommand = {"list", "List scenarios, their variants and limits",
                                         "ohm list\n"
                                         "ohm list scenarios/leaked_loss_graph.lua\n"
                                         "ohm list --json\n"
                                         "ohm list --measurements",
                                         setup_list};

}  // namespace ohm::cli
